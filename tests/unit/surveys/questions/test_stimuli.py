"""Arms in a study file: one stimulus or pages of them, and every mistake with the words that help."""

from typing import Any

import pytest

from surveys.errors import DefinitionError
from surveys.questions.stimuli import KINDS
from tests.factories import definition

IMAGE = {"picture": "curve.png", "alternative": "A curve that rises."}
AUDIO = {"sources": ["talk.mp3"], "transcript": "Hello."}
READING = {"text": "See ![A rising curve](curve.png).", "pictures": ["curve.png"]}
NOTHING = {"name": "nothing", "label": "Nothing"}


def study_with(**shown: Any) -> Any:
    return definition(arms=[NOTHING, {"name": "shown", "label": "Shown", **shown}], control="nothing")


@pytest.mark.parametrize(
    ("shown", "files"),
    [
        ({"image": IMAGE}, {"curve.png"}),
        ({"audio": AUDIO}, {"talk.mp3"}),
        ({"reading": READING}, {"curve.png"}),
        ({"pages": [{"name": "a", "audio": AUDIO}, {"name": "b", "reading": READING}]}, {"talk.mp3", "curve.png"}),
    ],
)
def test_an_arm_knows_its_files(shown: dict[str, Any], files: set[str]) -> None:
    study = study_with(**shown)
    assert study.files() == files
    assert set(study.arm("shown").files()) == files
    assert study.stimuli == {one.kind for one in study.arm("shown").shown}
    assert not study.arm("nothing").shown


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        ({"audio": {"sources": ["talk.mp3"]}}, "expected a transcript, all that is said and heard"),
        ({"audio": {"sources": [], "transcript": "Hello."}}, "at least 1 item"),
        ({"audio": {"sources": ["talk.wav"], "transcript": "Hello."}}, "audio.sources"),
        ({"image": {"picture": "curve.png"}}, "image.alternative: this part is missing"),
        ({"image": IMAGE | {"picture": "https://example.org/curve.png"}}, "image.picture"),
        ({"reading": {"text": "![A curve](curve.png)"}}, "expected pictures that are uploaded and stand under pictures, got curve.png"),
        ({"reading": {"text": "![A pixel](https://example.org/a.png)"}}, "got https://example.org/a.png"),
        ({"reading": READING | {"text": {"en": "![A curve](curve.png)", "de": "![](curve.png)"}}}, "needs words .* without: curve.png"),
        ({"pages": [{"name": "a", "image": IMAGE}, {"name": "a", "image": IMAGE}]}, "names must differ; repeated: a"),
        ({"pages": [{"name": "a"}]}, "a page shows one of video, reading, image, audio, task, got nothing"),
        ({"pages": [{"name": "a", "image": IMAGE, "audio": AUDIO}]}, "got image and audio"),
        ({"pages": [{"name": "a", "image": IMAGE}], "reading": {"text": "Read."}}, "got reading and pages in shown"),
        ({"image": IMAGE, "audio": AUDIO}, "got image and audio in shown"),
        ({"pages": []}, "every arm but the control needs one of"),
    ],
)
def test_a_mistake_is_said(shown: dict[str, Any], words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        study_with(**shown)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_kind_says_about_its_fields_is_true(kind: str) -> None:
    assert set(KINDS[kind].uploaded) | set(KINDS[kind].needed_texts) <= set(KINDS[kind].model_fields)
    assert set(KINDS[kind].awaited("name")) <= set(KINDS[kind].uploaded)
