"""Lectures: each to its own arm only, seekable; and how much of one was watched."""

import re
import time
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from surveys.models import MediaFile, Participant, Step, Study
from tests.factories import LECTURE_SECONDS, address_of, answer, hidden_value, participant_of, recruiting_study, token_of, walk

pytestmark = pytest.mark.django_db
ARMS = {"slides": "slides-only", "instructor": "with-instructor"}


def address(study: Study, name: str) -> str:
    return reverse("surveys:media", args=[study.slug, MediaFile.objects.get(study=study, name=name).pk])


def fetch(client: Client, at: str, **headers: str) -> tuple[int, bytes, Any]:
    response = client.get(at, headers=headers)
    return response.status_code, response.getvalue(), response.headers


def own_and_other(client: Client) -> tuple[str, str]:
    """The file name that this participant's lecture has, and that of the other arm."""
    arm = participant_of(client).arm
    (other,) = set(ARMS) - {arm}
    return ARMS[arm], ARMS[other]


@pytest.mark.parametrize("until", ["video", "quiz", "questions"])
def test_the_lecture_of_the_own_arm_is_sent_from_its_page_on(client: Client, study: Study, until: str) -> None:
    walk(client, study, until=until)
    own, _other = own_and_other(client)
    for kind, media_type in (("webm", "video/webm"), ("mp4", "video/mp4"), ("webp", "image/webp")):
        status, content, headers = fetch(client, address(study, f"{own}.{kind}"))
        assert (status, headers["Content-Type"]) == (200, media_type)
        assert content.startswith(f"the content of {own}.{kind}".encode())
        assert headers["Cache-Control"].startswith("private")
    assert fetch(client, address(study, "captions-en.vtt"))[0] == 200


def test_the_page_links_to_the_own_lecture_only(client: Client, study: Study) -> None:
    page = walk(client, study, until="video").content.decode()
    own, other = own_and_other(client)
    found = set(re.findall(r"/s/lecture-videos/media/[0-9a-f-]+/", page))
    assert found == {address(study, name) for name in (f"{own}.webm", f"{own}.mp4", f"{own}.webp", "captions-en.vtt", "captions-de.vtt")}
    assert not found & {address(study, f"{other}.{kind}") for kind in ("webm", "mp4", "webp")}


def test_the_lecture_of_another_arm_does_not_exist(client: Client, study: Study) -> None:
    walk(client, study, until="video")
    _own, other = own_and_other(client)
    for kind in ("webm", "mp4", "webp"):
        assert client.get(address(study, f"{other}.{kind}")).status_code == 404


def test_nobody_sees_a_lecture_before_being_assigned(client: Client, study: Study) -> None:
    for step in ("welcome", "consent", "background"):
        walk(client, study, until=step)
        for name in ("slides-only.webm", "with-instructor.webm", "captions-en.vtt"):
            assert client.get(address(study, name)).status_code == 404


def test_nobody_sees_a_lecture_without_the_cookie(client: Client, study: Study) -> None:
    walk(client, study, until="video")
    stranger = Client()
    forged = Client()
    forged.cookies["candor_participant"] = "x" * 43
    for name in ("slides-only.webm", "with-instructor.webm"):
        assert stranger.get(address(study, name)).status_code == 404
        assert forged.get(address(study, name)).status_code == 404


def test_a_participant_of_one_study_sees_nothing_of_another(client: Client, study: Study) -> None:
    other = recruiting_study(slug="another-study")
    walk(client, study, until="video")
    client.cookies["candor_participant"]["path"] = "/"
    own, _other = own_and_other(client)
    assert client.get(address(other, f"{own}.webm")).status_code == 404
    assert (
        client.get(reverse("surveys:media", args=[study.slug, MediaFile.objects.get(study=other, name=f"{own}.webm").pk])).status_code
        == 404
    )


def test_a_made_up_address_does_not_exist(client: Client, study: Study) -> None:
    walk(client, study, until="video")
    assert client.get(reverse("surveys:media", args=[study.slug, uuid4()])).status_code == 404
    assert client.post(address(study, "captions-en.vtt")).status_code == 405


def test_a_part_of_the_lecture_can_be_asked_for(client: Client, study: Study) -> None:
    walk(client, study, until="video")
    at = address(study, f"{own_and_other(client)[0]}.webm")
    _status, whole, headers = fetch(client, at)
    assert headers["Accept-Ranges"] == "bytes"
    status, part, headers = fetch(client, at, Range="bytes=10-19")
    assert (status, part, headers["Content-Range"]) == (206, whole[10:20], f"bytes 10-19/{len(whole)}")
    assert client.get(at, headers={"Range": f"bytes={len(whole)}-"}).status_code == 416


def report(client: Client, study: Study, share: str, opened: str = "") -> int:
    """Report how much was watched; return what the server believes."""
    response = client.post(reverse("surveys:progress", args=[study.slug]), {"share": share, "opened": opened})
    assert response.status_code == 204
    return participant_of(client).watched_tenths


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`clock(30)`: from now on it is half a minute later than when the test began."""
    start = float(int(time.time()))

    def later(seconds: float) -> None:
        monkeypatch.setattr("surveys.journey.visitors.time.time", lambda: start + seconds)

    later(0)
    return later


def test_watching_adds_up_in_tenths_and_never_goes_down(client: Client, study: Study, clock: Any) -> None:
    opened = hidden_value(walk(client, study, until="video"), "opened")
    clock(LECTURE_SECONDS)
    assert report(client, study, "0.3", opened) == 3
    assert report(client, study, "0.1", opened) == 3
    assert report(client, study, "1", opened) == 10
    assert report(client, study, "0.5", opened) == 10


@pytest.mark.parametrize("share", ["", "²", "x", "-1", "2", "1e9", "inf", "nan", "0.35", "0.3333333", "9" * 400, "0,5", "1.0", "\x00"])
def test_reports_that_are_no_tenth_are_not_believed(client: Client, study: Study, clock: Any, share: str) -> None:
    opened = hidden_value(walk(client, study, until="video"), "opened")
    clock(10_000)
    assert report(client, study, share, opened) == 0


def test_more_than_time_allows_is_not_believed(client: Client, study: Study, clock: Any) -> None:
    opened = hidden_value(walk(client, study, until="video"), "opened")
    assert report(client, study, "1", opened) == 0
    clock(LECTURE_SECONDS / 10)
    assert [report(client, study, "1", opened) for _ in range(20)] == [2] * 20  # at most double speed
    clock(LECTURE_SECONDS / 2)
    assert report(client, study, "1", opened) == 10


def test_reloading_the_page_does_not_speed_watching_up(client: Client, study: Study, clock: Any) -> None:
    first = hidden_value(walk(client, study, until="video"), "opened")
    clock(LECTURE_SECONDS / 10)
    assert report(client, study, "0.2", first) == 2
    for _ in range(5):
        again = hidden_value(client.get(address_of(study)), "opened")
        assert report(client, study, "1", again) == 2


def test_somebody_elses_ticket_is_not_believed(client: Client, study: Study, clock: Any) -> None:
    stranger = Client()
    opened = hidden_value(walk(stranger, study, until="video"), "opened")
    walk(client, study, until="video")
    clock(10_000)
    assert report(client, study, "1", opened) == 0
    assert report(client, study, "1", "") == 0
    assert report(client, study, "1", "forged") == 0


@pytest.mark.parametrize("step", ["background", "quiz"])
def test_watching_counts_while_the_lecture_is_open_only(client: Client, study: Study, clock: Any, step: str) -> None:
    walk(client, study, until=step)
    clock(10_000)
    assert report(client, study, "1") == 0


def test_nobody_else_can_report(client: Client, study: Study) -> None:
    response = client.post(reverse("surveys:progress", args=[study.slug]), {"share": "1"})
    assert response.status_code == 404
    assert client.get(reverse("surveys:progress", args=[study.slug])).status_code == 405


def test_the_page_shows_again_how_much_was_watched(client: Client, study: Study) -> None:
    walk(client, study, until="video")
    Participant.objects.update(watched_tenths=4)
    assert 'data-watched-share="0.4"' in client.get(address_of(study)).content.decode()
    answer(client, study, "video")
    assert participant_of(client).step == Step.QUIZ
    assert token_of(client)
