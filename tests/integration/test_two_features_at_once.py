"""Attacks on two features together: a panel and a course, the numbers of ways and the age of rows, ways and the end of operational data."""

import re
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeVar, cast
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.db.models import Model
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.models import Entry
from lti.services import make_batch
from surveys.actions import FORGETTING_BEGUN
from surveys.batches import order_of_arrival
from surveys.batches.order_of_arrival import CLEANED, HELD_AT_ONCE, _write_again, forget_order_of_days, forget_recent_order, lay_anew
from surveys.batches.rules import LEAST
from surveys.batches.selectors import ways_shown
from surveys.batches.services import count_next_batch, keep_shown_numbers
from surveys.batches.tally import tally_of
from surveys.credit import services as credit
from surveys.credit.selectors import ticket_for
from surveys.credit.services import change_credit, give_code
from surveys.errors import CreditError, StudyFullError, TransitionError
from surveys.journey import services as participation
from surveys.journey.participant_store import read_participant
from surveys.journey.services import withdraw
from surveys.models import CreditBook, EntryBook, EntryCode, PanelMember, Participant, Response, Step, Study, WayNumbers
from surveys.recruitment import services as recruitment
from surveys.recruitment.services import add_entry_codes, check_completion_codes, write_down_entries
from surveys.retention.services import forget_operational_data
from surveys.studies.services import change_definition, close
from surveys.tokens import hash_of_token, hash_of_withdrawal_code, withdrawal_code
from tests.course_students import finish, hand_in, launch, signed_token, study_with_credit, words
from tests.course_students import platform as platform
from tests.factories import (
    address_of,
    answer,
    code_on,
    definition,
    hidden_value,
    logged_in,
    page_of,
    participant_of,
    recruiting_study,
    token_of,
    walk,
)
from tests.finished_people import add_finished_people
from tests.jobs import attempt, catch, claimed
from tests.lti_platform import CoursePlatform
from tests.simultaneous import at_once

pytestmark = pytest.mark.django_db
T = TypeVar("T")
PROLIFIC = {"PROLIFIC_PID": "5f1c0000000000000000000a"}


def study_with_ways() -> Study:
    study = recruiting_study(entry={"ways": [{"name": "letters", "kind": "codes"}, {"name": "prolific", "kind": "prolific"}]})
    add_entry_codes(study, codes=["ABCD-1234"], actor=study.owner)
    return study


PANELS = {
    "prolific": ({"PROLIFIC_PID": "5f1c0000000000000000000a"}, None),
    "sona": ({"survey_code": "17"}, "https://psy.example.org/?survey_code={identifier}"),
    "mturk": ({"workerId": "A2EXAMPLE12345", "assignmentId": "3ASSIGNMENT000000000000000001"}, None),
    "qualtrics": ({"ResponseID": "R_2aBcDeFgH"}, "https://uni.example.org/?id={identifier}&proof={completion_code}"),
}


@pytest.mark.parametrize("kind", PANELS)
def test_people_whom_a_panel_credits_have_no_second_credit_in_a_course(platform: CoursePlatform, kind: str) -> None:
    """Attack: one participation, and two students, one with the panel's code, one with the blinded number."""
    (query, back), bob = PANELS[kind], Client()
    study = study_with_credit(entry={"kind": kind} | ({"completion_url": back} if back else {}))
    last = walk(Client(), study, answers={"welcome": query})
    assert page_of(last).xpath("//input[@name='ticket']") == []
    code = code_on(last, "completion")
    assert check_completion_codes(study, codes=[code], actor=study.owner)[0].genuine
    launch(bob, platform, study, sub="bob")
    refused = hand_in(bob, study, credit=code)
    assert (refused.status_code, "for the site that sent you" in words(refused)) == (409, True)
    assert not CreditBook.objects.filter(study=study).exclude(people=[]).exists()


def test_people_whom_another_site_sends_without_crediting_them_have_the_credit_of_the_course(platform: CoursePlatform) -> None:
    study, client = study_with_credit(entry={"kind": "qualtrics", "completion_url": "https://uni.example.org/?id={identifier}"}), Client()
    launch(client, platform, study, sub="ada")
    last = page_of(walk(client, study, answers={"welcome": {"ResponseID": "R_2aBcDeFgH"}}))
    assert last.xpath("//input[@name='ticket']")
    assert last.xpath("//*[@id='completion-code']") == []


def test_a_title_that_no_officer_has_approved_stands_in_no_course(platform: CoursePlatform) -> None:
    """A title is changed in an amendment that is still being written, and credit is sent: the column is made under the approved one."""
    study, client = study_with_credit(), Client()
    launch(client, platform, study, sub="ada", without_line_item=True)
    hand_in(client, study, action="without")
    changed = definition(title={"en": "Who lies in tests?", "de": "Wer lügt in Tests?"})
    change_definition(Study.objects.get(pk=study.pk), definition=changed, actor=study.owner)
    batch = make_batch(study)
    assert batch is not None
    attempt(claimed(batch))
    assert [item["label"] for item in platform.line_items.values()] == ["A short lecture and four honest answers"]


def test_codes_of_before_credit_was_turned_on_stay_good(platform: CoursePlatform) -> None:
    study, client = recruiting_study(), Client()
    code = code_on(walk(Client(), study), "completion")
    change_credit(study, is_on=True, for_everybody=False, actor=study.owner)
    launch(client, platform, study, sub="ada")
    assert hand_in(client, study, credit=code).status_code == 303


def last_page_again(client: Client, study: Study, token: str) -> HttpResponse:
    """As the personal link, which somebody kept, shows it."""
    client.post(f"{address_of(study)}resume/{token}/")
    return client.get(address_of(study))


def test_a_completion_code_and_a_signature_are_not_two_credits(platform: CoursePlatform) -> None:
    """Attack: somebody finishes before credit is turned on, and comes back by the personal link once it is."""
    study, client = recruiting_study(), Client()
    walk(client, study, until="questions")
    token = token_of(client)
    answer(client, study, "questions")
    code = code_on(client.get(address_of(study)), "completion")
    change_credit(study, is_on=True, for_everybody=False, actor=study.owner)
    again = last_page_again(client, study, token)
    assert code_on(again, "completion") == code
    assert page_of(again).xpath("//input[@name='ticket']") == []
    kept = ticket_for(hash_of_token(token), study.slug)
    with pytest.raises(CreditError, match="given already"):
        give_code(study, ticket=kept)


def test_a_signature_and_a_completion_code_are_not_two_credits(platform: CoursePlatform) -> None:
    """Attack: somebody has their credit signed, and comes back for a code while credit is off."""
    study, client, bob = study_with_credit(), Client(), Client()
    walk(client, study, until="questions")
    token = token_of(client)
    answer(client, study, "questions")
    signed_token(client, study, hidden_value(client.get(address_of(study)), "ticket"))
    change_credit(study, is_on=False, for_everybody=False, actor=study.owner)
    code = code_on(last_page_again(client, study, token), "completion")
    assert check_completion_codes(study, codes=[code], actor=study.owner)[0].genuine
    change_credit(study, is_on=True, for_everybody=False, actor=study.owner)
    launch(bob, platform, study, sub="bob")
    assert hand_in(bob, study, credit=code).status_code == 409
    assert not CreditBook.objects.filter(study=study).exclude(people=[]).exists()


def test_nobody_is_noted_for_credit_once_operational_data_are_deleted(platform: CoursePlatform, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: somebody hands in their credit in the very moment of the deletion, and stays in a new book for ever."""
    study, client = study_with_credit(), Client()
    handed_in = signed_token(Client(), study, finish(client, study))
    launch(client, platform, study, sub="ada")
    close(study, actor=study.owner)
    look = credit.trace_of

    def and_then_all_is_deleted(*given: Any) -> str:
        found = look(*given)
        forget_operational_data(Study.objects.get(pk=study.pk))
        return found

    monkeypatch.setattr(credit, "trace_of", and_then_all_is_deleted)
    assert hand_in(client, study, credit=handed_in).status_code == 409
    assert not CreditBook.objects.exists()


def while_rows_are_written_anew(models: Sequence[type[Model]], act: Callable[[], T]) -> T:
    """Do something at the moment at which all rows of these models are deleted and inserted again by somebody who has not committed yet."""
    written, go_on = threading.Event(), threading.Event()

    def write() -> None:
        with transaction.atomic():
            for model in models:
                _write_again(model, "id", list(model._default_manager.select_for_update().values_list("pk", flat=True)))
            written.set()
            assert go_on.wait(20)

    def and_act() -> T:
        assert written.wait(20)
        threading.Timer(0.5, go_on.set).start()
        return act()

    acts: list[Callable[[], T | None]] = [write, and_act]
    found = at_once(*acts)[1]
    return cast(T, found)


def test_nothing_stays_that_the_night_writes_anew_while_operational_data_are_deleted(postgresql: None) -> None:
    """Attack: an owner closes a study, which begins a night, and has the data deleted in the same minute."""
    study = study_with_ways()
    walk(Client(), study, answers={"welcome": PROLIFIC}, until="quiz")
    walk(Client(), study, answers={"welcome": {"way": "letters", "code": "ABCD-1234"}})
    write_down_entries(more_than=0)
    close(study, actor=study.owner)
    EntryBook.objects.update(members={})
    PanelMember.objects.get_or_create(study=study, identifier="a" * 64, panel_hash="b" * 64)
    models = [Participant, Response, EntryCode, PanelMember]
    while_rows_are_written_anew(models, lambda: forget_operational_data(Study.objects.get(pk=study.pk)))
    assert [(one.step, one.background, one.consented_on) for one in Participant.objects.all()] == [(Step.FINISHED, {}, None)]
    assert not PanelMember.objects.exists()
    assert not EntryCode.objects.exists()


def test_a_code_stays_spent_that_the_night_writes_anew_while_it_is_written_down(postgresql: None, monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_with_ways()
    walk(Client(), study, answers={"welcome": {"way": "letters", "code": "ABCD-1234"}}, until="background")
    monkeypatch.setattr(recruitment, "STAY_IN_BOOK", 0)
    while_rows_are_written_anew([EntryCode], lambda: write_down_entries(more_than=0))
    assert answer(Client(), study, "welcome", way="letters", code="ABCD-1234").status_code == 403


def test_a_panel_member_who_withdraws_is_deleted_though_the_night_writes_their_entry_anew(
    postgresql: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, client = study_with_ways(), Client()
    walk(client, study, answers={"welcome": PROLIFIC}, until="background")
    token = token_of(client)
    monkeypatch.setattr(recruitment, "STAY_IN_BOOK", 0)
    write_down_entries(more_than=0)
    assert PanelMember.objects.count() == 1
    assert while_rows_are_written_anew([PanelMember], lambda: withdraw(study, code=withdrawal_code(token)))
    assert not PanelMember.objects.exists()


def test_somebody_for_whom_there_is_no_room_leaves_nothing_though_their_row_is_written_anew(
    postgresql: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the refusal and the deletion the hour takes hold of the row."""
    study, client = recruiting_study(), Client()
    walk(client, study, until="background")
    token, person = token_of(client), read_participant(participant_of(client).token_hash)
    assert person is not None

    def refuse(*_given: object) -> None:
        raise StudyFullError

    monkeypatch.setattr(participation, "move_to_line", lambda *_given, **_named: None)
    monkeypatch.setattr(participation, "_hold", lambda _person: None)
    monkeypatch.setattr(participation, "_assigned", refuse)

    def send() -> None:
        with pytest.raises(StudyFullError):
            participation.record_background(person, token=token, answers={})

    while_rows_are_written_anew([Participant], send)
    assert not Participant.objects.filter(study=study).exists()


def test_somebody_who_leaves_while_the_night_holds_all_others_is_hidden(postgresql: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: after the end of a small study the night holds everybody else, so that nobody could be held back beside one who leaves."""
    catch(monkeypatch)
    study = recruiting_study(allocation={"planned_participants": 60})
    add_finished_people(study, HELD_AT_ONCE - 2, counted=False)
    close(Study.objects.get(pk=study.pk), actor=study.owner)
    before, code = tally_of(study.pk).groups(), "0123-4567-89AB-CDEF"
    gone = Participant.objects.filter(study=study, counted=True)[0]
    Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code(code))
    leaves, is_night, go_on = threading.Event(), threading.Event(), threading.Event()
    hold, lay = participation.hold_participant, order_of_arrival.lay_anew

    def hold_and_wait(*given: Any, **named: Any) -> Participant | None:
        found = hold(*given, **named)
        leaves.set()
        assert is_night.wait(10)
        threading.Timer(0.5, go_on.set).start()
        return found

    def lay_slowly(keys: Sequence[UUID]) -> None:
        lay(keys)
        is_night.set()
        assert go_on.wait(10)

    monkeypatch.setattr(participation, "hold_participant", hold_and_wait)
    monkeypatch.setattr(order_of_arrival, "lay_anew", lay_slowly)

    def night() -> None:
        assert leaves.wait(10)
        assert forget_order_of_days() == []

    def leave() -> None:
        assert participation.withdraw(study, code=code)

    at_once(night, leave)
    after = tally_of(study.pk).groups()
    assert sum((before - after).values()) >= LEAST
    assert all(people >= LEAST for people in (before - after).values())


@pytest.fixture
def finished(postgresql: None, monkeypatch: pytest.MonkeyPatch) -> tuple[Study, Participant, str]:
    """A study with credit in which a batch waits, somebody among them who has not asked for their credit, and the ticket for it."""
    catch(monkeypatch)
    study, client = study_with_credit(allocation={"planned_participants": 200}), Client()
    add_finished_people(study, 150, counted=False)
    walk(client, study, until="questions")
    person = participant_of(client)
    answer(client, study, "questions")
    return study, person, ticket_for(person.token_hash, study.slug)


def test_somebody_whose_batch_is_just_written_has_their_credit(finished: tuple[Study, Participant, str]) -> None:
    """Attack: whoever completes a batch asks for the credit while the worker writes all of its rows anew."""
    study, _person, ticket = finished
    assert while_rows_are_written_anew([Participant], lambda: give_code(study, ticket=ticket))


def test_credit_after_a_batch_does_not_tell_who_completed_it(finished: tuple[Study, Participant, str]) -> None:
    """Attack: rows of a batch have one age, but for the one in which credit was marked later: its person came last."""
    study, person, ticket = finished
    assert count_next_batch(study)
    if not Participant.objects.get(pk=person.pk).counted:  # chance took others
        Participant.objects.filter(pk=person.pk).update(counted=True)
        lay_anew(list(Participant.objects.filter(counted=True).values_list("pk", flat=True)))
    give_code(study, ticket=ticket)
    assert forget_recent_order() == []
    age = "surveys_participant.xmin::text"
    found = Participant.objects.filter(counted=True).extra(select={"age": age}).order_by("pk").values_list("pk", "age")
    alike = [number for number, (_key, age) in enumerate(found) if age == dict(found)[person.pk]]
    assert len(alike) >= LEAST
    gaps = sum(after - before > 1 for before, after in pairwise(alike))
    assert gaps == (len(alike) < len(found) and alike[0] == 0 and alike[-1] == len(found) - 1), "the last key is beside the first"


@pytest.mark.parametrize(("place", "before"), [(0, HELD_AT_ONCE - 1), (-1, 0), (-3, 1)])
def test_somebody_at_the_end_of_all_keys_has_as_many_neighbours_as_others(monkeypatch: pytest.MonkeyPatch, place: int, before: int) -> None:
    """Attack: the row of somebody with the last key of all is written anew alone, since nobody comes after it."""
    study = recruiting_study(allocation={"planned_participants": 2 * HELD_AT_ONCE})
    add_finished_people(study, HELD_AT_ONCE + 10)
    keys = sorted(Participant.objects.filter(counted=True).values_list("pk", flat=True))
    person, laid = Participant.objects.get(pk=keys[place]), list[UUID]()
    monkeypatch.setattr(order_of_arrival, "lay_anew", laid.extend)
    monkeypatch.setattr(order_of_arrival.secrets, "randbelow", lambda most: before)
    with transaction.atomic():
        order_of_arrival.lay_anew_among_others(person)
    assert len(laid) == len(set(laid)) == HELD_AT_ONCE
    first = keys.index(person.pk) - before
    assert set(laid) == {keys[one % len(keys)] for one in range(first, first + HELD_AT_ONCE)}, "everybody is equally likely at each place"


HARMLESS = {"surveys_participant", "surveys_shardedcounter", "surveys_allocationslot", "surveys_study"}
"""Tables that hold nothing beside a row of answers that this row does not hold itself."""


def test_old_versions_of_every_row_that_a_journey_rewrites_are_overwritten() -> None:
    """Attack: an old version of the numbers of ways, written by the same transaction as a person, names the way by which they came."""
    study = study_with_ways()
    with CaptureQueriesContext(connection) as sent:
        walk(Client(), study, answers={"welcome": PROLIFIC})
        walk(Client(), study, answers={"welcome": {"way": "letters", "code": "ABCD-1234"}})
    changed = {found[1] for query in sent.captured_queries if (found := re.match(r'UPDATE "(\w+)"', query["sql"]))}
    assert changed >= {"surveys_waynumbers", "surveys_entrybook"}
    assert changed - HARMLESS <= {model._meta.db_table for model in CLEANED}


def test_exact_numbers_of_ways_go_with_the_operational_data() -> None:
    """Attack: a way by which one person came stands exactly in the table, or in the log, after people could withdraw last."""
    study = study_with_ways()
    walk(Client(), study, answers={"welcome": PROLIFIC})
    closed = close(study, actor=study.owner)
    forget_operational_data(closed)
    assert not WayNumbers.objects.exists()
    [begun] = Entry.objects.filter(action=FORGETTING_BEGUN).values_list("details", flat=True)
    assert begun["panel_members"] == 0
    keep_shown_numbers(closed, shown_as=int)
    assert all(not people for ends in ways_shown(closed).values() for people in ends.values())


def test_no_code_comes_in_once_operational_data_are_deleted() -> None:
    """Nothing would ever delete it: the deletion of the study's operational data is over."""
    study = study_with_ways()
    forget_operational_data(close(study, actor=study.owner))
    with pytest.raises(TransitionError, match="are deleted, and its codes with them"):
        add_entry_codes(study, codes=["EFGH-5678"], actor=study.owner)
    owner, address = logged_in(study.owner), reverse("surveys:codes", args=[study.slug])
    page = owner.post(address, {"action": "add", "codes": "EFGH5678"})
    assert (page.status_code, "are deleted, and its codes with them" in page.content.decode()) == (422, True)
    offered = page_of(owner.get(address))
    assert offered.xpath('//button[@name="action"]/@value') == ["check"]
    assert "are deleted, and its codes with them" in offered.text_content()
    assert not EntryCode.objects.exists()
