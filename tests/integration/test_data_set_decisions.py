"""An officer who decides about a budget reads which others there are: their losses add up where the students are the same."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from analysis.data_sets import services
from analysis.data_sets.retention import usual_day
from analysis.inbox.decisions import report_for
from analysis.models import DataSet
from tests.data_sets import BUDGET, approved, data_set
from tests.factories import logged_in, person
from tests.ledgers import open_source
from tests.record_sets import words

pytestmark = pytest.mark.django_db


def test_budgets_of_data_sets_and_of_closed_studies_stand_beside_a_new_one() -> None:
    of_a_study, officer = open_source().study, person(Role.IRB_OFFICER)
    assert of_a_study is not None
    other = approved(title="Marks of a year").whole
    waiting = data_set()
    services.submit(waiting, budget=BUDGET, delete_on=usual_day(), actor=waiting.owner)
    page = logged_in(officer).get(reverse("analysis:data_set", args=[waiting.slug]))
    assert "These data sets and closed studies have a budget of their own." in words(page)
    for whole, address in ((other, "analysis:data_set"), (of_a_study, "analysis:analytics_ledger")):
        link = reverse(address, args=[whole.slug])
        assert f'<a href="{link}">{whole.title}</a>' in page.content.decode()
        assert logged_in(officer).get(link).status_code == 200
    assert "have a budget of their own" not in words(logged_in(waiting.owner).get(reverse("analysis:data_set", args=[waiting.slug])))


def test_the_report_has_every_decision_on_a_data_set_and_not_the_newest_alone() -> None:
    waiting, officer, today = data_set(), person(Role.IRB_OFFICER), timezone.localdate()

    def reported() -> list[tuple[str, int | None]]:
        return [(one.verdict, one.days) for one in report_for(officer, first=today, last=today).decisions]

    services.submit(waiting, budget=BUDGET, delete_on=usual_day(), actor=waiting.owner)
    services.send_back(waiting, reason="Say where the data come from.", actor=officer)
    services.submit(waiting, budget=BUDGET, delete_on=usual_day(), actor=waiting.owner)
    DataSet.objects.update(submitted_on=today + timedelta(days=9))  # the second question, which waits, is not that of the decision
    assert reported() == [("Sent back", 0)]
    services.approve(waiting, budget=(BUDGET.epsilon, BUDGET.delta), delete_on=f"{usual_day()}", analysts=(), actor=officer)
    assert reported() == [("Approved", 0), ("Sent back", 0)]


def test_the_report_of_an_officer_who_is_an_analyst_tells_nothing_of_the_log() -> None:
    """Their page of the data set says so: they read its log no more."""
    waiting, officer, other, today = data_set(), person(Role.IRB_OFFICER), person(Role.IRB_OFFICER), timezone.localdate()
    services.submit(waiting, budget=BUDGET, delete_on=usual_day(), actor=waiting.owner)
    services.send_back(waiting, reason="Say where the data come from.", actor=other)
    invited, _token = services.invite_analyst(waiting, addressee=officer.username, actor=waiting.owner)
    assert len(report_for(officer, first=today, last=today).decisions) == 1
    services.accept_invitation(invited, user=officer)
    assert report_for(officer, first=today, last=today).decisions == []
    assert len(report_for(other, first=today, last=today).decisions) == 1
