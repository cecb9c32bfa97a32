"""Studies that are possible, and the sentence for everything that is not."""

import re
from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from typing import Any

import pytest

from candor.designs.design import Design
from surveys.definition import DIRECT
from surveys.errors import DefinitionError
from surveys.questions.background import OrdinalScale
from surveys.questions.parts import Text
from surveys.questions.stimuli import Video
from surveys.study_file import dump, read_study_file, write_study_file
from tests.factories import definition, document
from tests.surveys import LEFT_OPEN, one_arm

Change = Callable[[dict[str, Any]], object]


def problems_after(change: Change) -> list[str]:
    """The complaints about the sample study after `change` to its plain values."""
    changed = deepcopy(document())
    change(changed)
    with pytest.raises(DefinitionError) as raised:
        read_study_file(dump(changed))
    return [re.sub(r"^study file, line \d+: ", "", problem) for problem in raised.value.problems]


def put(*path: str | int, to: Any) -> Change:
    """Change one place of a document."""

    def change(changed: Any) -> None:
        for part in path[:-1]:
            changed = changed[part]
        changed[path[-1]] = to

    return change


ONLY = {"name": "a", "text": "A"}
SCALE = {"kind": "ordinal_scale", "name": "s", "text": "?", "role": "auxiliary"}
OTHER = {"name": "b", "text": "B"}
TURNING = [ONLY | {"score": 1}, OTHER | {"score": 3}, {"name": "c", "text": "C", "score": 3}]
ENDLESS = [ONLY | {"score": float("inf")}, OTHER | {"score": 0}]
MISTAKES: dict[str, tuple[Change, str]] = {
    "an unknown part": (put("colour", to="red"), "colour: there is no part of this name"),
    "a missing part": (lambda changed: changed.pop("consent"), "consent: this part is missing"),
    "a slug with a space": (put("slug", to="my study"), "slug: expected 2 to 50 small letters"),
    "an empty text": (put("debrief", to="  "), "expected at least 1 character, got nothing"),
    "a text of nothing but a NUL": (put("debrief", to="a\0b"), "debrief"),
    "a text that is too long": (put("debrief", to="x" * 20_001), "expected at most 20,000 characters, got 'xxx"),
    "an address that is not https": (
        put("entry", to={"completion_url": "http://x"}),
        "expected an address that begins with https://",
    ),
    "a list for strangers and codes": (
        put("entry", to={"kind": "codes", "listed": True}),
        "entry: listed: expected kind: open, because strangers come from a public list; found codes",
    ),
    "another kind of entry": (
        put("entry", to={"kind": "phone"}),
        "expected 'open', 'class', 'codes', 'prolific', 'sona', 'mturk' or 'qualtrics', got 'phone'",
    ),
    "no arm": (lambda changed: changed["arms"].clear(), "arms: expected at least 1 item, got nothing"),
    "a treatment that shows nothing": (
        lambda changed: changed["arms"][1].pop("video"),
        "arms: every arm but the control needs one of video, reading, image, audio, task, or pages, or there is nothing to compare; "
        "without: instructor",
    ),
    "an arm with a lecture and a text": (
        put("arms", 1, "reading", to={"text": "Read this."}),
        "arms: an arm shows one of video, reading, image, audio, task, or several on pages; got video and reading in instructor",
    ),
    "a text that takes an hour": (
        put("arms", 0, to={"name": "slides", "label": "Text", "reading": {"text": "Read this.", "seconds": 3600}}),
        "arms[0].reading.seconds: expected a number of at most 1,800, got 3600",
    ),
    "two arms of one name": (put("arms", 1, "name", to="slides"), "arms: names must differ; repeated: slides"),
    "a control that is no arm": (put("control", to="radio"), "control must be one of the arms slides, instructor, got radio"),
    "an arm without weight": (put("arms", 0, "weight", to=0), "arms[0].weight: expected a number of at least 1, got 0"),
    "a quota of nobody": (put("arms", 0, "quota", to=0), "arms[0].quota: expected a number of at least 1"),
    "a video that is a picture": (put("arms", 0, "video", "sources", to=["a.png"]), "arms[0].video.sources[0]: expected a file name"),
    "a video above its folder": (put("arms", 0, "video", "sources", to=["../a.mp4"]), "arms[0].video.sources[0]: expected a file name"),
    "captions that are no captions": (
        put("arms", 0, "video", "captions", to={"en": "a.srt"}),
        "captions.en: expected a file name",
    ),
    "a poster that is a video": (put("arms", 0, "video", "poster", to="a.mp4"), "arms[0].video.poster: expected a file name"),
    "more than the whole video": (put("watching", "share", to=1.5), "watching.share: expected a number of at most 1, got 1.5"),
    "bounds out of order": (put("background", 1, "minimum", to=9), "minimum must be below maximum, got 9 and 8"),
    "a question of an unknown kind": (
        put("background", 0, "kind", to="hologram"),
        "background[0]: kind: expected one of 'single_choice', 'multiple_choice'",
    ),
    "a question without a role": (lambda changed: changed["background"][0].pop("role"), "background[0].role: this part is missing"),
    "one option": (put("background", 0, "options", to=[ONLY]), "background[0].options: expected at least 2 items"),
    "options of one name": (put("background", 0, "options", to=[ONLY, ONLY]), "background[0].options: names must differ; repeated: a"),
    "questions of one name": (put("background", 1, "name", to="gender"), "background: names must differ; repeated: gender"),
    "a group in a group": (
        lambda changed: changed["background"][3]["fields"].append(deepcopy(changed["background"][3])),
        "'date', got 'group'",
    ),
    "a scale with some scores": (
        put(
            "background",
            0,
            to=SCALE | {"options": [ONLY | {"score": 1}, OTHER]},
        ),
        "expected a score for every option or for none; without one: b",
    ),
    "a scale that turns": (
        put("background", 0, to=SCALE | {"options": TURNING}),
        "scores must rise, or fall, from each option to the next, got 1, 3, 3",
    ),
    "an endless score": (
        put("background", 0, to=SCALE | {"options": ENDLESS}),
        "score: expected a number, got '.inf'",
    ),
    "a text of any length": (
        put("background", 0, to={"kind": "short_text", "name": "s", "text": "?", "longest": 5000}),
        "longest: expected a number of at most 200, got 5000",
    ),
    "words with a role in a release": (
        put("background", 0, to={"kind": "short_text", "name": "s", "text": "?", "role": "auxiliary"}),
        "role: there is no part of this name",
    ),
    "words in a group": (
        lambda changed: changed["background"][3]["fields"].append({"kind": "short_text", "name": "s", "text": "?"}),
        "'date', got 'short_text'",
    ),
    "an answer that is no option": (
        put("quiz", 0, "answer", to="x"),
        "quiz[0]: answer must be one of the options alike, fair, quick, got x",
    ),
    "no sensitive question": (put("questions", to=[]), "questions: expected at least 1 item, got nothing"),
    "a text that lacks a language": (put("title", to={"en": "x"}), "title: the text in de is missing (the study's languages are en, de)"),
    "a nested text that lacks a language": (
        put("background", 3, "fields", 0, "options", 1, "text", to={"en": "x"}),
        "background[3].fields[0].options[1].text: the text in de is missing",
    ),
    "a language that is no code": (put("languages", to=["English"]), "languages[0]: expected the code of a language"),
    "one subsample": (lambda changed: changed["die"]["subsamples"].pop("2"), "die.subsamples: expected at least 2 items"),
    "four subsamples": (
        put("die", "subsamples", to={name: {"yes": [1], "no": [2]} for name in "1234"}),
        "die.subsamples: expected at most 3 items, got",
    ),
    "the same faces twice": (
        put("die", "subsamples", "2", to={"yes": [1], "no": [2, 3]}),
        "die: the subsamples must play different forced responses, but all are the same: nothing tells cheaters apart",
    ),
    "a face that is not there": (put("die", "subsamples", "1", "yes", to=[7]), "a face must be a whole number from 1 to 6, not 7"),
    "a face that says two things": (put("die", "subsamples", "1", "no", to=[1, 2]), "every face may be named once, found [1, 1, 2]"),
    "a die that never asks for the truth": (
        put("die", "subsamples", "1", to={"yes": [1, 2, 3], "no": [4, 5, 6]}),
        "die: subsample '1' never asks for the truth",
    ),
    "a die that protects no yes": (
        put("die", "subsamples", "1", "yes", to=[]),
        "one of the answers reveals the truth (epsilon is infinite)",
    ),
    "weights of unknown subsamples": (put("die", "weights", to={"3": 1}), "die.weights names subsamples that are not there: 3"),
    "cheaters of an unknown kind": (put("die", "cheaters", to="sometimes"), "die.cheaters"),
    "a list of one": (put("allocation", "planned_participants", to=1), "allocation.planned_participants: expected a number"),
    "a block of nobody": (put("allocation", "block_multiples", to=[0]), "allocation.block_multiples[0]: expected a number"),
    "waiting too long": (put("minimum_seconds", to=121), "minimum_seconds: expected a number of at most 120, got 121"),
}


@pytest.mark.parametrize(("change", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named_with_its_place(change: Change, sentence: str) -> None:
    problems = problems_after(change)
    assert any(sentence in problem for problem in problems), problems


def test_all_mistakes_are_named_at_once() -> None:
    def change(changed: dict[str, Any]) -> None:
        changed["slug"], changed["minimum_seconds"] = "My Study", -1
        del changed["arms"][0]["label"]

    problems = problems_after(change)
    assert [problem.split(":")[0] for problem in problems] == ["slug", "arms[0].label", "minimum_seconds"]


def test_the_sample_design_is_the_mirrored_one_of_the_paper() -> None:
    by_hand = Design.of(
        arms=("slides", "instructor"),
        control="slides",
        subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
        cheater_model="any",
    )
    assert definition().design() == by_hand


def test_a_design_of_three_subsamples_with_weights_is_as_computed_by_hand() -> None:
    arms = [arm | {"weight": weight} for arm, weight in zip(document()["arms"], (1, 3), strict=True)]
    faces = {"a": {"yes": [1], "no": [2]}, "b": {"yes": [1, 2, 3], "no": [4]}, "c": {"yes": [1], "no": [2, 3, 4, 5]}}
    study = definition(arms=arms, die={"sides": 10, "subsamples": faces, "weights": {"a": 2}, "cheaters": "unknown"})
    by_hand = Design.of(
        arms=("slides", "instructor"),
        control="slides",
        subsamples={
            "a": {"forced_no": "1/10", "forced_yes": "1/10"},
            "b": {"forced_no": "1/10", "forced_yes": "3/10"},
            "c": {"forced_no": "4/10", "forced_yes": "1/10"},
        },
        arm_probabilities=(Fraction(1, 4), Fraction(3, 4)),
        subsample_probabilities=(Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)),
        cheater_model="unknown",
    )
    assert study.design() == by_hand
    assert study.design().kind == "three_subsamples"


def test_cheaters_can_be_given_a_yes_rate() -> None:
    die = document()["die"] | {"cheaters": 0.25}
    assert definition(die=die).design().cheater_model.to_document() == {"yes_rate": "1/4"}


def test_a_text_speaks_the_language_asked_for_or_else_english_or_else_any() -> None:
    assert Text("everywhere").in_language("de") == "everywhere"
    assert Text({"en": "yes", "de": "ja"}).in_language("de") == "ja"
    assert Text({"de": "ja", "en": "yes"}).in_language("fr") == "yes"
    for stored in ({"de": "ja", "it": "sì"}, {"it": "sì", "de": "ja"}):  # in whichever order a database gives it back
        assert Text(stored).in_language("fr") == "ja"


def test_the_media_of_a_study_are_those_of_all_arms() -> None:
    both = {f"{video}.{kind}" for video in ("slides-only", "with-instructor") for kind in ("webm", "mp4", "webp")}
    assert definition().files() == {*both, "captions-en.vtt", "captions-de.vtt"}


def test_captions_come_in_the_order_of_the_languages_whatever_the_database_did() -> None:
    video = Video(sources=("a.mp4",), captions={"de": "d.vtt", "it": "i.vtt", "en": "e.vtt", "fr": "f.vtt"})
    assert [code for code, _name in video.captions_in_order(["fr", "es", "de"])] == ["fr", "de", "en", "it"]
    assert dict(video.captions_in_order([])) == video.captions


SYMMETRIC = {"1": {"yes": [1], "no": [6]}, "2": {"yes": [1, 2], "no": [5, 6]}}


def test_a_die_that_cannot_tell_the_size_of_the_effect_is_warned_about() -> None:
    warnings = definition(die={"subsamples": SYMMETRIC}).warnings()
    assert len(warnings) == 1
    assert str(warnings[0]).startswith("With this die the size of the effect cannot be determined.")


@pytest.mark.parametrize("die", [{"subsamples": SYMMETRIC, "cheaters": "always_no"}, {}])
def test_a_die_that_can_tell_is_not_warned_about(die: dict[str, Any]) -> None:
    assert definition(**({"die": die} if die else {})).warnings() == []


def test_the_order_in_which_subsamples_are_stored_does_not_matter() -> None:
    faces = {"long-name": {"yes": [1], "no": [2, 3]}, "b": {"yes": [1, 2], "no": [3]}, "a": {"yes": [1], "no": [2]}}
    for names in (list(faces), sorted(faces), sorted(faces, key=len)):
        design = definition(die={"subsamples": {name: faces[name] for name in names}}).design()
        assert design.subsample_names == ("a", "b", "long-name")


GROUP = {"share": 0.2, "consent": {"en": "May we?", "de": "Dürfen wir?"}}
DIE = document()["die"]


def test_a_share_in_whole_hundredths_up_to_a_half_is_taken_exactly() -> None:
    for share, exact in ((0.01, "1/100"), (0.07, "7/100"), (0.29, "29/100"), (0.5, "1/2")):
        assert definition(direct_group=GROUP | {"share": share}).direct_share == Fraction(exact)
    assert definition().direct_share == 0


@pytest.mark.parametrize(
    ("group", "sentence"),
    [
        ({"share": 0.0}, "direct_group.share: expected a number above 0"),
        ({"share": 0.51}, "direct_group.share: expected a number of at most 0.5"),
        ({"share": 0.333}, "direct_group.share: expected whole hundredths, such as 0.15, got 0.333"),
        ({"consent": {"en": "May we?"}}, "direct_group.consent: the text in de is missing"),
        ({"consent": ""}, "direct_group.consent"),
    ],
)
def test_impossible_values_are_refused_with_their_place(group: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DefinitionError) as raised:
        definition(direct_group=GROUP | group)
    assert sentence in str(raised.value)


def test_no_subsample_of_a_die_may_be_called_direct() -> None:
    named = DIE | {"subsamples": {"1": DIE["subsamples"]["1"], DIRECT: DIE["subsamples"]["2"]}}
    with pytest.raises(DefinitionError, match="the name direct is kept for people who are asked without a die"):
        definition(die=named)


def test_the_desk_is_warned_that_nothing_protects_these_answers() -> None:
    assert definition().warnings() == []
    assert [str(warning) for warning in definition(direct_group=GROUP).warnings()] == [
        "20 % of the people are drawn to be asked directly, without a die, if they agree. "
        "Their answers are stored as they are: nothing protects them."
    ]


def test_the_group_stands_in_the_study_file() -> None:
    asked = definition(direct_group=GROUP)
    written = write_study_file(asked)
    assert "share: 0.2" in written
    assert read_study_file(written) == asked


def test_the_design_of_the_die_is_that_of_a_study_without_the_group() -> None:
    asked = definition(direct_group=GROUP, die=DIE | {"weights": {"1": 2}})
    assert asked.design() == definition(die=DIE | {"weights": {"1": 2}}).design()
    assert asked.planned_with_die == 38  # 48 · 0.8, rounded
    # One of five lines is direct; the other four are split in thirds by the weights 2 and 1.
    assert asked.group_weights == {"1": 8, "2": 4, "direct": 3}
    assert definition().group_weights == definition().subsample_weights


@pytest.mark.parametrize(("scores", "expected"), [((), [1, 2, 3]), ((4, 3.7, -1), [4, 3.7, -1]), ((0, 10, 11), [0, 10, 11])])
def test_a_scale_counts_its_options_unless_it_has_scores(scores: tuple[float, ...], expected: list[float]) -> None:
    scored: list[dict[str, Any]] = [{"score": score} for score in scores] or [{}, {}, {}]
    options = [{"name": name, "text": name} | score for name, score in zip("abc", scored, strict=True)]
    defined = definition(background=[SCALE | {"options": options}])
    (scale,) = defined.background
    assert isinstance(scale, OrdinalScale)
    assert scale.scores == dict(zip("abc", expected, strict=True))
    assert read_study_file(write_study_file(defined)) == defined


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"analysis": {"families": {"main": ["attention"]}}}, "a study with one arm is a survey and compares nothing"),
        ({"subgroups": ["gender"]}, "a study with one arm is a survey and compares nothing"),
        ({"control": "others"}, "control must be one of the arms students, got others"),
    ],
)
def test_what_compares_arms_is_refused_with_the_reason(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DefinitionError, match=sentence):
        definition(**one_arm(**changes))


def test_a_die_that_leaves_the_prevalence_open_is_warned_of() -> None:
    assert definition(**one_arm()).warnings() == []
    (warning,) = definition(**one_arm(die=LEFT_OPEN)).warnings()
    assert str(warning).startswith("With this die how many truly say yes cannot be determined.")
