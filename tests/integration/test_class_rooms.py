"""A class that tries the die: counts in batches, a browser answers once, rooms last a day, and nothing tells who came when."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from surveys.batches.rules import LEAST
from surveys.classroom import services
from surveys.classroom.questions import QUESTIONS
from surveys.classroom.services import add_answer, delete_rooms_of_earlier_days, open_room
from surveys.models import ClassRoom, JoinCode
from surveys.tasks import forget_due
from tests.factories import recruiting_study

pytestmark = pytest.mark.django_db
ROOM = "/in-class/{}/"


@pytest.fixture
def room() -> ClassRoom:
    return open_room("read")


def batches(room: ClassRoom) -> list[list[list[int]]]:
    found: list[list[list[int]]] = Client().get(f"{ROOM.format(room.code)}batches/").json()["batches"]
    return found


def test_a_lecturer_opens_a_room_and_students_find_it_by_its_code(client: Client) -> None:
    opened = client.post("/in-class/", {"question": "gift"})
    room = ClassRoom.objects.get()
    assert opened["Location"] == f"/in-class/{room.code}/screen/"
    screen = client.get(opened["Location"]).content.decode()
    assert room.code in screen
    assert f"/in-class/{room.code}/" in screen
    assert str(QUESTIONS["gift"]) in screen
    assert client.get("/in-class/", {"code": f" {room.code.lower()} "})["Location"] == f"/in-class/{room.code}/"
    assert str(QUESTIONS["gift"]) in client.get(f"/in-class/{room.code}/").content.decode()


def test_a_room_never_has_the_code_of_a_study_or_of_another_room(room: ClassRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    """The field for codes takes both, so one of the two could not be found by its code, and the other's people would land there."""
    study = recruiting_study(entry={"kind": "class"})
    taken = JoinCode.objects.create(study=study, way="class", code="CDFHJK")
    drawn = iter("CDFHJK" + room.code + "CDFHJM")
    monkeypatch.setattr("surveys.recruitment.services.secrets.choice", lambda _letters: next(drawn))
    assert open_room("read").code == "CDFHJM"
    assert set(ClassRoom.objects.values_list("code", flat=True)) == {room.code, "CDFHJM"} != {taken.code}


def test_a_code_that_belongs_to_no_room_is_told_at_its_field(client: Client) -> None:
    answer = client.get("/in-class/", {"code": "ZZZ<99"})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert '<p class="error-message" id="code-error">There is no such room today.' in page
    assert 'value="ZZZ&lt;99"' in page
    assert "Open a room" in page


def test_nobody_brings_a_question_of_their_own(client: Client) -> None:
    answer = client.post("/in-class/", {"question": "Have you ever cheated?"})
    assert answer.status_code == 422
    assert "Choose one of the questions." in answer.content.decode()
    assert not ClassRoom.objects.exists()


def test_answers_are_shown_when_ten_people_of_each_half_wait(room: ClassRoom) -> None:
    for person in range(LEAST):
        add_answer(room.code, half=0, yes=person < 3)
    for _person in range(LEAST - 1):
        add_answer(room.code, half=1, yes=True)
        assert batches(room) == []
    add_answer(room.code, half=1, yes=False)
    assert batches(room) == [[[LEAST, 3], [LEAST, LEAST - 1]]]
    add_answer(room.code, half=0, yes=True)
    assert batches(room) == [[[LEAST, 3], [LEAST, LEAST - 1]]]


def test_two_shown_numbers_never_differ_by_fewer_than_ten_people_of_a_half(room: ClassRoom) -> None:
    for _person in range(70):
        newcomer = Client()
        page = newcomer.get(ROOM.format(room.code))
        newcomer.post(ROOM.format(room.code), {"half": page.context["half"], "answer": "yes"})
    shown = batches(room)
    assert len(shown) == 3
    assert all(people >= LEAST for batch in shown for people, _yes in batch)


def test_a_browser_answers_once_and_sees_no_number(client: Client, room: ClassRoom) -> None:
    sent = client.post(ROOM.format(room.code), {"half": "1", "answer": "yes"})
    assert sent.status_code == 302
    client.post(ROOM.format(room.code), {"half": "1", "answer": "yes"})
    assert ClassRoom.objects.get().waiting == [[0, 0], [1, 1]]
    assert "Thank you" in client.get(ROOM.format(room.code)).content.decode()


def test_a_page_that_comes_back_has_the_die_with_which_somebody_rolled(room: ClassRoom) -> None:
    """The face stays on a reload, so another die would make a “yes” of what was “truthfully”."""
    for mine in (0, 1):
        add_answer(room.code, half=1 - mine, yes=True)  # the next person gets this half
        student = Client()
        assert student.get(ROOM.format(room.code)).context["half"] == mine
        for _person in range(2):
            add_answer(room.code, half=mine, yes=True)
        for shown in (student.post(ROOM.format(room.code), {"half": str(mine)}), student.get(ROOM.format(room.code))):
            assert shown.context["half"] == mine
        cookie = student.cookies["candor_class_half"]
        assert (cookie.value, cookie["path"], cookie["max-age"], cookie["httponly"]) == (str(mine), ROOM.format(room.code), "", True)


@pytest.mark.parametrize(
    "sent", [{}, {"half": "0"}, {"half": "2", "answer": "yes"}, {"half": "-1", "answer": "yes"}, {"half": "0", "answer": "6"}]
)
def test_a_broken_answer_is_not_counted(client: Client, room: ClassRoom, sent: dict[str, str]) -> None:
    answer = client.post(ROOM.format(room.code), sent)
    assert answer.status_code == 422
    assert "Choose an answer" in answer.content.decode()
    assert ClassRoom.objects.get().waiting == [[0, 0], [0, 0]]


def test_a_room_has_room_for_so_many(client: Client, room: ClassRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MOST_PEOPLE", 1)
    add_answer(room.code, half=0, yes=True)
    assert "This room is full" in client.post(ROOM.format(room.code), {"half": "0", "answer": "yes"}).content.decode()
    assert ClassRoom.objects.get().waiting[0] == [1, 1]
    monkeypatch.setattr(services, "MOST_ROOMS", 1)
    assert "Very many rooms" in client.post("/in-class/", {"question": "gift"}).content.decode()


def test_a_room_ends_with_its_day(client: Client, room: ClassRoom) -> None:
    ClassRoom.objects.update(opened_on=timezone.localdate() - timedelta(days=1))
    for address in (ROOM.format(room.code), f"{ROOM.format(room.code)}screen/", f"{ROOM.format(room.code)}batches/"):
        assert client.get(address).status_code == 404
    assert client.post(ROOM.format(room.code), {"half": "0", "answer": "yes"}).status_code == 404
    today = open_room("late")
    assert list(ClassRoom.objects.all()) == [today]
    assert delete_rooms_of_earlier_days() == 0
    ClassRoom.objects.update(opened_on=timezone.localdate() - timedelta(days=1))
    forget_due()
    assert not ClassRoom.objects.exists()


def test_a_room_keeps_counts_and_a_day_and_nothing_else() -> None:
    assert {field.name for field in ClassRoom._meta.get_fields()} == {"code", "question", "opened_on", "waiting", "batches"}
    assert ClassRoom._meta.get_field("opened_on").get_internal_type() == "DateField"


def test_a_stranger_reads_what_one_answer_with_the_die_of_the_home_page_gives_away(client: Client) -> None:
    home, page = (client.get(address).content.decode() for address in ("/", "/privacy/"))
    assert 'href="/privacy/"' in home
    # Five of six faces can lead to the answer that is true, one to the other: 5/6.
    assert "at most 84 % sure" in page
    assert "There is one sensitive question" not in page
    assert page.count("data-says=") == home.count("data-says=") == 3
    assert "set-cookie" not in {name.lower() for name in client.get("/privacy/").headers}
