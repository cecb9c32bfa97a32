"""Sentences that were stored with their values are said in the reader's language, numbers too."""

from django.utils import translation
from django.utils.html import escape

from analysis.packages.privacy_statement import privacy_statement
from candor import complaints
from candor.designs import privacy_words
from candor.planning import notes
from candor.sentences import Sentence
from surveys.templatetags.catalogue_words import as_complaint, as_note, as_sentence, as_variable
from tests.package_contents import content

SURE = Sentence(privacy_words.AFTER_ALL, {"questions": 4, "sure": "99.6 %"})


def test_numbers_are_written_as_the_language_writes_them() -> None:
    with translation.override("de"):
        assert as_sentence(SURE.document()).startswith("Nach den Antworten auf alle 4 Fragen")
        assert "99,6 %" in as_sentence(SURE.document())
    with translation.override("en"):
        assert as_sentence(SURE.document()) == str(SURE)


def test_parts_are_translated_one_by_one_and_older_texts_stay() -> None:
    both = Sentence("%(part0)s %(part1)s", {"part0": SURE, "part1": Sentence("100 % of a text that no catalogue has", {})})
    with translation.override("de"):
        said = as_sentence(both.document())
        assert as_sentence("Said before sentences were stored.") == "Said before sentences were stored."
    assert said.startswith("Nach den Antworten")
    assert said.endswith(" 100 % of a text that no catalogue has")


def test_the_promises_of_a_package_are_the_same_in_english_and_all_others_in_german() -> None:
    told = privacy_statement(content())
    with translation.override("en"):
        assert [as_sentence(one.document()) for one in told] == [str(one) for one in told]
    with translation.override("de"):
        german = [as_sentence(one.document()) for one in told]
    assert not set(german) & {str(one) for one in told}
    assert all("%(" not in one for one in german)


def test_what_is_wrong_with_records_is_said_in_the_language_of_the_page() -> None:
    said = complaints.LARGE_LEVEL % {"name": "'<grade>'", "most": 2, "level": 3}
    with translation.override("de"):
        assert as_complaint(said).startswith("ℓ von &#x27;&lt;grade&gt;&#x27;: erwartet wird höchstens 2, ")
        below = f"record 2 → child 4: {complaints.NO_LEAF % {'name': 'x', 'value': '7'}}"
        assert as_complaint(below).startswith("Datensatz 2 → Kind 4: x: 7 ist")
        assert as_complaint("MemoryError: <none>") == '<span lang="en">MemoryError: &lt;none&gt;.</span>'
    with translation.override("en"):
        assert as_complaint(said) == escape(f"{said}.")


def test_a_note_of_a_plan_is_said_in_the_language_of_the_page_with_groups_of_digits() -> None:
    said = notes.ROUGH_CHEATERS % {"participants": 53625}
    with translation.override("de"):
        assert as_note(said).endswith("dafür braucht es 53.625 Teilnehmende.")
        assert "5,545" in as_note(notes.QUESTIONS % {"questions": 4, "epsilon": "5.545"})
        assert as_note("Said by an <older> library.") == '<span lang="en">Said by an &lt;older&gt; library.</span>'
    with translation.override("en"):
        assert as_note(said).endswith("which takes 53,625 participants.")


def test_a_column_of_background_answers_keeps_the_names_of_the_study_file() -> None:
    with translation.override("de"):
        said = [as_variable(name) for name in ("gender: not answered", "courses: mean grade", "courses: entries", "year", "gender: man")]
    assert said == ["gender: nicht beantwortet", "courses: Mittelwert von grade", "courses: Einträge", "year", "gender: man"]
    assert as_variable("courses: mean grade") == "courses: mean grade"
