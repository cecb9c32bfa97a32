"""Budgets of several data sets add up where their students are the same. No program knows that: officers are told before they decide."""

import pytest
from django.urls import reverse

from accounts.models import Role
from accounts.services import change_role
from analysis.data_sets import services
from analysis.data_sets.retention import usual_day
from analysis.ledger.services import ask
from analysis.models import DataSet, DataSetAnalyst
from analysis.sources.seats import access_data_set
from analysis.sources.services import delete_rows
from tests.data_sets import BUDGET, approved, data_set
from tests.factories import logged_in, page_of, person

pytestmark = pytest.mark.django_db
WARNING = "their losses add up"


def waiting(owner, title):
    made = data_set(owner, title=title)
    services.submit(made, budget=BUDGET, delete_on=usual_day(), actor=owner)
    return made


def words(client, made: DataSet) -> str:
    return " ".join(" ".join(page_of(client.get(reverse("analysis:data_set", args=[made.slug]))).itertext()).split())


def test_an_officer_reads_which_budgets_are_there_already_before_another_one() -> None:
    """Attack: the same file is brought again and again, each time with a budget that looks small."""
    owner, officer = person(Role.INVESTIGATOR), logged_in(person(Role.IRB_OFFICER))
    first = waiting(owner, "Marks, first time")
    assert WARNING not in words(officer, first), "there is no other"
    source = approved(owner, title="Marks, second time")
    assert f"{WARNING}: to the sum of all budgets" in words(officer, first)
    assert f"Marks, second time , {owner}, " in words(officer, first)
    delete_rows(source)
    assert "Marks, second time" in words(officer, first), "its answers stay"
    assert WARNING not in words(logged_in(owner), first), "it is the officer's decision"


def test_what_has_no_budget_yet_is_not_named() -> None:
    owner, officer = person(Role.INVESTIGATOR), logged_in(person(Role.IRB_OFFICER))
    one, other = (waiting(owner, title) for title in ("Marks", "Diaries"))
    assert other.title not in words(officer, one)


def test_an_analyst_who_asked_and_becomes_an_officer_never_reviews_the_data_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """A restore makes the charge again, and loses the entry of the log."""
    analyst = person(Role.ANALYST)
    source = approved(analysts=(analyst,))
    monkeypatch.setattr("analysis.ledger.services.record", lambda **_entry: None)
    question = {"kind": "count", "where": [{"column": "background.major", "in": ["law"]}], "epsilon": 0.2}
    ask(source, {"kind": "statistic", "question": question}, actor=analyst)
    DataSetAnalyst.objects.all().delete()
    officer = change_role(user=analyst, role=Role.IRB_OFFICER)
    assert not access_data_set(officer, source.whole.slug).may_review
    assert access_data_set(person(Role.IRB_OFFICER), source.whole.slug).may_review
