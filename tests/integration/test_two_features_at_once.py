"""Attacks on two features together: a panel and a course, the numbers of ways and the age of rows, ways and the end of operational data."""

import re
import threading
from collections.abc import Callable

import pytest
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit.models import Entry
from surveys.actions import FORGETTING_BEGUN
from surveys.batches.order_of_arrival import CLEANED, forget_recent_order, lay_anew
from surveys.batches.rules import LEAST
from surveys.batches.selectors import ways_shown
from surveys.batches.services import count_next_batch, keep_shown_numbers
from surveys.credit.selectors import ticket_for
from surveys.credit.services import change_credit, give_code
from surveys.errors import CreditError
from surveys.models import CreditBook, Participant, Study, WayNumbers
from surveys.recruitment.services import add_entry_codes, check_completion_codes
from surveys.retention.services import forget_operational_data
from surveys.studies.services import close
from surveys.tokens import hash_of_token
from tests.course_students import hand_in, launch, signed_token, study_with_credit, words
from tests.course_students import platform as platform
from tests.factories import address_of, answer, code_on, hidden_value, page_of, participant_of, recruiting_study, token_of, walk
from tests.finished_people import add_finished_people
from tests.jobs import catch
from tests.lti_platform import CoursePlatform
from tests.simultaneous import at_once

pytestmark = pytest.mark.django_db
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
    study, person, ticket = finished
    written, go_on = threading.Event(), threading.Event()

    def write() -> None:
        with transaction.atomic():
            lay_anew(list(Participant.objects.filter(pk=person.pk).select_for_update().values_list("pk", flat=True)))
            written.set()
            assert go_on.wait(20)

    def ask() -> str:
        assert written.wait(20)
        threading.Timer(0.5, go_on.set).start()
        return give_code(study, ticket=ticket)

    acts: list[Callable[[], str | None]] = [write, ask]
    assert at_once(*acts)[1]


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
    assert alike == list(range(alike[0], alike[-1] + 1))


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
