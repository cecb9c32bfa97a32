"""The book of entries: where spent codes and numbers at panels stand before they go to their tables."""

from copy import copy

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from jobs.models import Routine
from jobs.tasks import send_now
from surveys.allocation.services import change_arm
from surveys.batches.services import ORDER_OF_DAYS
from surveys.journey.services import withdraw
from surveys.models import EntryBook, EntryCode, PanelMember, Participant, Study, StudyStatus
from surveys.questions.entry import Entry
from surveys.recruitment import services as recruitment
from surveys.recruitment.arrivals import Arrival, Ended, way_back
from surveys.recruitment.selectors import spent_codes_shown, stored_panel_identifier
from surveys.recruitment.services import add_entry_codes
from surveys.review import services as reviews
from surveys.studies import services as studies
from surveys.tokens import hash_of_entry_code, hash_of_panel_identifier, hash_of_token
from tests.factories import (
    ATTENTION_CHECK,
    answer,
    code_on,
    definition,
    everything_stored,
    heading,
    logged_in,
    person,
    recruiting_study,
    send,
    token_of,
    walk,
)
from tests.integration.test_entry_codes import spent_codes, with_code
from tests.jobs import work_on

pytestmark = pytest.mark.django_db


def at_the_end(study: Study) -> Study:
    """The study as pages will read it once it is closed."""
    ended = copy(study)
    ended.status = StudyStatus.CLOSED
    return ended


def write_down(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """All entries go to their tables, and none comes back."""
    monkeypatch.setattr(recruitment, "STAY_IN_BOOK", 0)
    recruitment.write_down_entries(more_than=0)


@pytest.mark.parametrize("written_down", [False, True])
def test_a_panel_member_who_withdraws_leaves_a_keyed_hash_and_cannot_come_again(
    client: Client, written_down: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = recruiting_study(entry={"kind": "sona"})
    page = walk(client, study, answers={"welcome": {"survey_code": "abc123"}})
    walk(Client(), study, answers={"welcome": {"survey_code": "who-stays"}})
    stays = hash_of_panel_identifier("sona:who-stays", study.slug)
    trace = hash_of_panel_identifier("sona:abc123", study.slug)
    if written_down:
        write_down(study, monkeypatch)
        assert set(study.panel_members.values_list("identifier", flat=True)) == {trace, stays}
    assert withdraw(study, code=code_on(page, "withdrawal").lower())
    book = EntryBook.objects.get(study=study)
    assert [*book.members.values(), *study.panel_members.values_list("identifier", flat=True)] == [stays]
    assert book.departed == [trace]
    assert "abc123" not in repr(everything_stored())
    response = answer(Client(), study, "welcome", survey_code="abc123")
    assert (response.status_code, heading(response)) == (403, "You have already taken part")
    assert answer(Client(), study, "welcome", survey_code="abc124").status_code == 303


TWO = {"ways": [{"kind": "sona", "name": "psychology"}, {"kind": "sona", "name": "economics"}]}
RENAMED = {"ways": [{"kind": "sona", "name": "psych"}, {"kind": "sona", "name": "economics"}]}


@pytest.mark.parametrize(("entry", "way"), [({"kind": "sona"}, ""), (RENAMED, "psych")])
def test_nobody_comes_twice_because_an_amendment_named_their_way_otherwise(entry: dict[str, object], way: str) -> None:
    study, officer = recruiting_study(entry=TWO), person(Role.IRB_OFFICER)
    walk(Client(), study, until="background", answers={"welcome": {"way": "psychology", "survey_code": "17"}})
    walk(Client(), study, until="background", answers={"welcome": {"way": "economics", "survey_code": "18"}})
    changed = studies.change_definition(study, definition=definition(entry=entry), actor=study.owner)
    studies.resume(reviews.approve(studies.submit_for_review(changed, actor=study.owner), actor=officer), actor=study.owner)
    named = {"way": way} if way else {}
    assert heading(answer(Client(), study, "welcome", survey_code="17", **named)) == "You have already taken part"
    still_there = answer(Client(), study, "welcome", survey_code="18", **named)
    assert (still_there.status_code == 303) == bool(way), "economics is another department as long as it is there"


def test_numbers_that_a_version_of_before_stored_in_clear_are_hashed_in_the_first_night() -> None:
    entry = {"kind": "sona", "completion_url": "https://psy.example.org/?survey_code={identifier}"}
    both = [recruiting_study(slug=slug, entry=entry) for slug in ("a-study", "another-study")]
    for study in both:
        PanelMember.objects.create(study=study, identifier="clear-17", panel_hash="a" * 64)
        EntryBook.objects.create(study=study, members={"b" * 64: "clear-18", "c" * 64: "d" * 64})
    for _night in range(2):
        send_now(ORDER_OF_DAYS)
        work_on(Routine.objects.get(pk=ORDER_OF_DAYS))
    assert "clear-1" not in repr(everything_stored())
    for study in both:
        kept = (*EntryBook.objects.get(study=study).members.values(), *study.panel_members.values_list("identifier", flat=True))
        assert "d" * 64 in kept
        for number in ("clear-17", "clear-18"):
            assert heading(answer(Client(), study, "welcome", survey_code=number)) == "You have already taken part"
        assert stored_panel_identifier(study.pk, "a" * 64) == ""


def test_a_way_back_without_the_number_is_not_shown() -> None:
    entry = Entry(kind="sona", completion_url="https://psy.example.org/?survey_code={identifier}")
    assert way_back(Arrival(way=entry.every_way[0]), Ended.FINISHED, in_force=entry, study_id=0, slug="s", token="of before") is None


def test_entries_wait_in_one_row_and_go_to_their_tables_in_whole_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    study = recruiting_study(entry={"kind": "sona"})
    numbers = [f"member-{number:03}" for number in range(recruitment.STAY_IN_BOOK + 5)]
    for number in numbers:
        walk(Client(), study, answers={"welcome": {"survey_code": number}}, until="background")
        assert not PanelMember.objects.exists()
    monkeypatch.setattr(recruitment, "STAY_IN_BOOK", 5)
    recruitment.write_down_entries(more_than=len(numbers))
    assert not PanelMember.objects.exists(), "the book does not hold so many"
    recruitment.write_down_entries(more_than=5)
    in_table, in_book = set(PanelMember.objects.values_list("identifier", flat=True)), EntryBook.objects.get().members
    assert len(in_book) == 5
    assert list(in_book) == sorted(in_book)
    number_of = {hash_of_panel_identifier(f"sona:{number}", study.slug): number for number in numbers}
    assert in_table | set(in_book.values()) == set(number_of)
    assert not in_table & set(in_book.values())
    for number in (next(iter(in_table)), next(iter(in_book.values()))):
        assert heading(answer(Client(), study, "welcome", survey_code=number_of[number])) == "You have already taken part"


@pytest.mark.parametrize("stay", [0, 2])
def test_a_spent_code_stays_spent_wherever_it_is_kept(stay: int, monkeypatch: pytest.MonkeyPatch) -> None:
    study = recruiting_study(entry={"kind": "codes"})
    codes = [f"CODE-{number:04}" for number in range(6)]
    add_entry_codes(study, codes=codes, actor=study.owner)
    for code in codes[:4]:
        walk(Client(), study, answers=with_code(code), until="background")
    monkeypatch.setattr(recruitment, "STAY_IN_BOOK", stay)
    spent = spent_codes()
    for _night in range(3):
        recruitment.write_down_entries(more_than=0)
        assert (spent_codes(), EntryCode.objects.filter(spent=True).count()) == (spent, 4 - stay)
    for code in codes[:4]:
        assert answer(Client(), study, "welcome", code=code).status_code == 403
    assert answer(Client(), study, "welcome", code=codes[4]).status_code == 303


@pytest.mark.parametrize("written_down", [False, True])
def test_a_code_is_good_again_for_somebody_for_whom_there_was_no_room(written_down: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    study, full, late = recruiting_study(entry={"kind": "codes"}), Client(), Client()
    add_entry_codes(study, codes=["CODE-0001", "CODE-0002"], actor=study.owner)
    answer(full, study, "welcome", code="CODE-0001")
    answer(full, study, "consent")
    walk(late, study, answers=with_code("CODE-0002"), until="background")
    if written_down:
        write_down(study, monkeypatch)
    for arm in ("slides", "instructor"):
        change_arm(study, arm=arm, actor=study.owner, closed=True)
    assert heading(answer(Client(), study, "welcome", code="CODE-0001")) == "This code does not open the study"
    rows = list(EntryCode.objects.order_by("pk").values_list("code_hash", "spent"))
    for _time in range(2):
        answer(full, study, "background")
    assert not Participant.objects.filter(token_hash=hash_of_token(token_of(full))).exists()
    assert list(EntryCode.objects.order_by("pk").values_list("code_hash", "spent")) == rows, "a row would tell when they were sent away"
    for arm in ("slides", "instructor"):
        change_arm(study, arm=arm, actor=study.owner, closed=False)
    assert spent_codes_shown(at_the_end(study)) == 1
    again = Client()
    walk(again, study, answers=with_code("CODE-0001"))
    assert spent_codes_shown(at_the_end(study)) == 2
    for _night in range(2):
        assert heading(answer(Client(), study, "welcome", code="CODE-0001")) == "This code does not open the study"
        recruitment.write_down_entries(more_than=0)
    assert (EntryBook.objects.get().returned, EntryCode.objects.filter(spent=True).count()) == ([], 2 if written_down else 0)


def test_a_code_that_was_given_back_is_unspent_in_the_table_after_the_night(monkeypatch: pytest.MonkeyPatch) -> None:
    study = recruiting_study(entry={"kind": "codes"})
    add_entry_codes(study, codes=["CODE-0001", "CODE-0002"], actor=study.owner)
    EntryCode.objects.update(spent=True)
    EntryBook.objects.create(study=study, returned=[hash_of_entry_code("CODE-0001", study.slug)])
    write_down(study, monkeypatch)
    assert EntryBook.objects.get().returned == []
    assert answer(Client(), study, "welcome", code="CODE-0001").status_code == 303
    assert answer(Client(), study, "welcome", code="CODE-0002").status_code == 403


def test_nobody_who_is_sent_away_for_what_they_answered_gets_their_code_back() -> None:
    study = recruiting_study(entry={"kind": "codes"}, background=[ATTENTION_CHECK], attention="exclude")
    add_entry_codes(study, codes=["CODE-0001"], actor=study.owner)
    client = Client()
    answer(client, study, "welcome", code="CODE-0001")
    answer(client, study, "consent")
    assert heading(send(client, study, "background", check="red")) == "This study ends here for you"
    assert answer(Client(), study, "welcome", code="CODE-0001").status_code == 403


def test_the_page_of_codes_counts_in_tens_while_people_come() -> None:
    study = recruiting_study(entry={"kind": "codes"})
    add_entry_codes(study, codes=[f"CODE-{number:04}" for number in range(40)], actor=study.owner)
    EntryCode.objects.filter(pk__in=list(EntryCode.objects.values_list("pk", flat=True)[:19])).update(spent=True)
    EntryBook.objects.create(study=study, codes=[EntryCode.objects.filter(spent=False)[0].code_hash])

    def shown() -> int:
        return int(logged_in(study.owner).get(reverse("surveys:api_codes", args=[study.slug])).json()["spent"])

    assert shown() == 10
    assert "40 codes, 10 of them spent" in logged_in(study.owner).get(reverse("surveys:codes", args=[study.slug])).content.decode()
    Study.objects.filter(pk=study.pk).update(status=StudyStatus.CLOSED)
    assert shown() == 20
