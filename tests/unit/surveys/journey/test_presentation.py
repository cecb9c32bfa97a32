"""A frozen protocol as the pages show it: in the participant's language, and silent about the arm."""

import math
import re
from dataclasses import asdict
from typing import Any

import pytest

from surveys.journey import presentation as presenting
from surveys.journey.presentation import Presentation
from surveys.journey.stimuli import StimulusView
from surveys.protocols import FrozenProtocol
from tests.factories import definition, document


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`shown("de", title=…)`: the presentation of a changed sample study, without a database."""

    def present(language: str, **changes: Any) -> Presentation:
        study = definition(**changes)
        media = {
            name: {"id": f"00000000-0000-0000-0000-{place:012}", "media_type": "video/mp4", "sha256": "", "duration_seconds": 25.0 + place}
            for place, name in enumerate(sorted(study.files()))
        }
        protocol = FrozenProtocol(id=1, version=3, definition=study, media=media)
        monkeypatch.setattr(presenting, "frozen_protocol", lambda protocol_id: protocol)
        return presenting.presentation.make(1, language)

    return present


def test_every_text_stands_in_the_language_asked_for(shown: Any) -> None:
    german = shown("de")
    assert german.title == document()["title"]["de"]
    assert "Worum es geht" in german.consent_html
    assert german.background[0].text == "Was ist dein Geschlecht?"
    assert german.background[0].options[0] == ("woman", "Frau")
    assert german.background[3].rows[0][1].unit == "%"
    assert german.questions[0].text == "Warst du während der Vorlesung unaufmerksam?"
    assert german.questions[0].options == (("1", "Ja"), ("0", "Nein"))


@pytest.mark.parametrize(("language", "order"), [("en", ["en", "de"]), ("de", ["de", "en"])])
def test_captions_in_the_language_asked_for_come_first(shown: Any, language: str, order: list[str]) -> None:
    arms = [arm | {"video": arm["video"] | {"captions": {"de": "captions-de.vtt", "en": "captions-en.vtt"}}} for arm in document()["arms"]]
    for (video,) in shown(language, arms=arms).stimuli.values():
        assert [code for _address, code, _label in video.captions] == order


def test_an_unknown_language_falls_back_to_english(shown: Any) -> None:
    assert shown("fr").consent_html == shown("en").consent_html


def test_languages_are_named_in_themselves(shown: Any) -> None:
    assert shown("en").languages == (("en", "English"), ("de", "Deutsch"))


def test_the_die_of_a_subsample_says_what_its_faces_say(shown: Any) -> None:
    die = shown("en").dice["2"]
    assert [(row.faces, row.says) for row in die.table] == [((1, 2), "yes"), ((3,), "no"), ((4, 5, 6), "truth")]
    # The truth is 3/6, a forced yes 2/6, a forced no 1/6: a "no" is (1/6 + 3/6)/(1/6) = 4 times as likely when it is true.
    assert die.epsilon == pytest.approx(math.log(4))


def test_rows_of_a_group_have_names_of_their_own(shown: Any) -> None:
    group = shown("en").background[3]
    assert [[field.name for field in row] for row in group.rows] == [[f"courses-{row}-course", f"courses-{row}-grade"] for row in range(3)]


def test_progress_counts_the_steps_that_the_study_has(shown: Any) -> None:
    assert shown("en").progress("questions") == {"number": 7, "total": 8, "name": "Personal questions"}
    assert shown("en", quiz=None).progress("questions") == {"number": 6, "total": 7, "name": "Personal questions"}


def test_nothing_that_is_shown_names_an_arm_or_a_file(shown: Any) -> None:
    view = asdict(shown("en"))
    arms, dice = view.pop("stimuli"), view.pop("dice")
    assert set(arms) == {"slides", "instructor"}  # the keys by which the server chooses; pages get one value
    said = repr([view, *arms.values(), *dice.values()])
    for secret in ("slides-only", "with-instructor", "Slides only", "Slides with the instructor", "Nur Folien", "captions-en"):
        assert secret not in said
    assert not re.search(r"'(slides|instructor)'", said)


def video_of(seconds: float) -> StimulusView:
    return StimulusView(kind="video", duration_seconds=seconds)


@pytest.mark.parametrize(
    ("claimed", "at_opening", "seconds", "believed"),
    [
        (10, 0, 0, 0),  # nobody has watched anything at once
        (1, 0, 5, 1),  # a tenth of 100 seconds at double speed takes 5 seconds
        (2, 0, 5, 1),
        (10, 0, 49, 10),
        (10, 0, 45, 9),
        (10, 6, 0, 6),  # a reload does not give more
        (7, 6, 5, 7),
        (3, 6, 100, 3),
        (10, 10, 1e9, 10),
    ],
)
def test_no_more_is_believed_than_time_allows(claimed: int, at_opening: int, seconds: float, believed: int) -> None:
    assert video_of(100).believable_tenths(claimed, at_opening=at_opening, seconds=seconds) == believed
