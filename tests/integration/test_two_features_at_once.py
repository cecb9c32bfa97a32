"""Attacks on two features together: a panel and a course, the numbers of ways and the age of rows, ways and the end of operational data."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit.models import Entry
from surveys.actions import FORGETTING_BEGUN
from surveys.batches.order_of_arrival import CLEANED
from surveys.batches.selectors import ways_shown
from surveys.batches.services import keep_shown_numbers
from surveys.credit.services import change_credit
from surveys.models import CreditBook, Study, WayNumbers
from surveys.recruitment.services import add_entry_codes, check_completion_codes
from surveys.retention.services import forget_operational_data
from surveys.studies.services import close
from tests.course_students import hand_in, launch, study_with_credit, words
from tests.course_students import platform as platform
from tests.factories import code_on, page_of, recruiting_study, walk
from tests.lti_platform import CoursePlatform

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
