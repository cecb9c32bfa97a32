"""Changes name their places in the reader's language, and leave names as somebody gave them."""

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from django.utils.translation import override, pgettext
from pydantic import BaseModel

from surveys.definition import StudyDefinition
from surveys.review.changes import FROM_A_LIST, changes_between, word_runs
from surveys.study_file import define
from tests.factories import document

SAME_IN_GERMAN = {"matrix", "name", "option", "orcid", "quiz", "ror", "text", "video"}
NEVER_SHOWN = {"root", "translations"}


def parts_below(kind: Any, found: dict[type[BaseModel], None]) -> None:
    """The models that a study file is made of."""
    for inner in get_args(kind):
        parts_below(inner, found)
    if isinstance(kind, type) and issubclass(kind, BaseModel) and kind not in found:
        found[kind] = None
        for field in kind.model_fields.values():
            parts_below(field.annotation, found)


def listed(kind: Any) -> Iterator[str]:
    """The words from a list that a field can have."""
    if get_origin(kind) is Literal:
        yield from get_args(kind)
    for inner in get_args(kind):
        yield from listed(inner)


def test_every_word_of_the_study_file_has_german() -> None:
    parts: dict[type[BaseModel], None] = {}
    parts_below(StudyDefinition, parts)
    fields = [(name, field) for part in parts for name, field in part.model_fields.items()]
    words = {name for name, _field in fields} - NEVER_SHOWN | {"order", "files", "yes", "no"}
    words |= {word for name, field in fields if name in FROM_A_LIST for word in listed(field.annotation) if isinstance(word, str)}
    words |= {"arm", "category", "creator", "field", "keyword", "option", "page", "picture", "question", "row", "way"}  # one of several
    assert len(words) > 120
    with override("de"):
        said = {word: pgettext("study file", word.replace("_", " ")) for word in words}
    assert {word for word, german in said.items() if german == word.replace("_", " ")} <= SAME_IN_GERMAN


def places(before: dict[str, Any], after: dict[str, Any], *, language: str) -> list[tuple[str, str, str]]:
    found = changes_between(define(before), define(after), old_files={}, new_files={"a_b.vtt": "1"}, language_names={"de": "Deutsch"})
    with override(language):
        return [(one.place, one.was, one.now) for one in found]


def test_a_reader_of_german_reads_where_something_changed_and_names_stay() -> None:
    before, after = document(), document(minimum_seconds=9)
    after["arms"] = [{**arm, "quota": 50} for arm in after["arms"]]
    german = places(before, after, language="de")
    assert ("Mindestdauer in Sekunden", "0", "9") in german
    assert {f"Arme › {arm['name']} › Quote" for arm in after["arms"]} <= {place for place, _was, _now in german}
    assert ("Dateien › a_b.vtt", "", "1") in german
    assert ("minimum seconds", "0", "9") in places(before, after, language="en")


def test_a_value_of_two_words_is_told_in_the_readers_language() -> None:
    """It looks like a text, whose words are compared one by one."""
    files: dict[str, str] = {}
    before, after = (document(allocation={**document()["allocation"], "scheme": scheme}) for scheme in ("simple", "permuted_block"))
    (change,) = changes_between(define(before), define(after), old_files=files, new_files=files, language_names={})
    with override("de"):
        assert change.is_text
        assert [(run.kind, run.words.strip()) for run in change.runs] == [("removed", "einfach"), ("added", "permutierte Blöcke")]


def test_a_question_may_have_the_name_of_a_part_of_the_file() -> None:
    """Its texts were taken for faces of a die: a translation that stayed behind was not told."""
    question = {"kind": "short_text", "name": "die", "text": {"en": "Your die?", "de": "Dein Würfel?"}, "longest": 20}
    before, after = document(background=[question]), document(background=[{**question, "text": {"en": "Which die?", "de": "Dein Würfel?"}}])
    stayed = ("Angaben zur Person › die › Text › Deutsch", "Dein Würfel?", "Dein Würfel?")
    assert stayed in places(before, after, language="de")


def runs(old: str, new: str) -> list[tuple[str, str]]:
    return [(run.kind, run.words.strip()) for run in word_runs(old, new)]


def test_texts_that_say_the_same_words_again_and_again_are_compared_as_a_whole() -> None:
    """Word by word, the longest texts of a study took an officer's page hours."""
    old, new = "a b " * 5000, "b b a " * 3333
    assert runs(old, new) == [("removed", old.strip()), ("added", new.strip())]
    assert runs("a\nb\n" * 5000, "b\nb\na\n" * 3333)[0][0] == "removed"


def test_lines_of_such_texts_that_stayed_are_told_as_such() -> None:
    same, other = "no " * 400, "yes " * 400
    assert runs(f"{same}\n{other}\nEnd.", f"{same}\n{same}\nEnd.") == [
        ("same", same.rstrip()),
        ("removed", other.rstrip()),
        ("added", same.rstrip()),
        ("same", "End."),
    ]
    assert runs("One two three.", "One three.") == [("same", "One"), ("removed", "two"), ("same", "three.")]
