"""The rows of a data set are deleted on the day that an officer approved; answers and the ledger stay."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from analysis.data_sets.errors import DataSetError
from analysis.data_sets.retention import delete_due, usual_day
from analysis.data_sets.services import approve, submit
from analysis.ledger.errors import LedgerError
from analysis.ledger.selectors import asked_before
from analysis.ledger.services import ask
from analysis.models import Asking, DataSet, Snapshot
from audit.models import Entry
from tests.data_sets import BUDGET, TYPED_TABLE, approved, bring, data_set, quiz_file
from tests.factories import logged_in, page_of, person
from tests.jobs import work_on
from tests.ledgers import budget_of

pytestmark = pytest.mark.django_db
COUNT = {"kind": "count", "where": [{"column": "background.major", "in": ["art"]}], "epsilon": 0.1}


def words(response: Any) -> str:
    return " ".join(" ".join(page_of(response).itertext()).split())


def test_the_rows_are_deleted_on_their_day_and_not_before_and_answers_stay() -> None:
    source, other = approved(), data_set(title="Another course")
    made = source.data_set
    assert made is not None
    document = {"kind": "statistic", "question": COUNT}
    ask(source, document, actor=made.owner)
    work_on(Asking.objects.get())
    owner, page = logged_in(made.owner), reverse("analysis:data_set", args=[made.slug])
    assert "Your data sets whose rows" not in words(owner.get(reverse("analysis:inbox")))
    today = timezone.localdate()
    DataSet.objects.filter(pk=made.pk).update(delete_on=today + timedelta(days=1))
    delete_due()
    assert Snapshot.objects.filter(data__isnull=False).count() == 2
    assert "Nothing new can be asked then." in words(owner.get(page)), "announced on its page"
    assert made.title in words(owner.get(reverse("analysis:inbox"))), "announced to its owner"
    DataSet.objects.filter(pk=made.pk).update(delete_on=today)
    delete_due()
    delete_due()
    assert Snapshot.objects.get(data__isnull=False).source.whole == other
    assert [one.state for one in asked_before(budget_of(source))] == ["answered"]
    assert [entry.actor_name for entry in Entry.objects.filter(action="data_set.deleted")] == [""], "once, by Candor itself"
    with pytest.raises(LedgerError, match="deleted"):
        ask(source, {**document, "question": {**COUNT, "epsilon": 0.2}}, actor=made.owner)
    assert "The rows were deleted on" in words(owner.get(page))


def test_an_officer_approves_the_day_that_they_saw() -> None:
    made, officer = data_set(), person(Role.IRB_OFFICER)
    submit(made, budget=BUDGET, delete_on=usual_day(), actor=made.owner)
    page = page_of(logged_in(officer).get(reverse("analysis:data_set", args=[made.slug])))
    (seen,) = page.xpath("//form[.//button[@value='approve']]//input[@name='delete_on']/@value")
    assert seen == usual_day().isoformat()
    DataSet.objects.update(delete_on=usual_day() + timedelta(days=1))
    with pytest.raises(DataSetError, match="changed meanwhile"):
        approve(made, budget=(BUDGET.epsilon, BUDGET.delta), delete_on=seen, analysts=(), actor=officer)


@pytest.mark.parametrize("typed", ["", "soon", "2020-01-01", "9999-12-31", "2027-02-30"])
def test_a_day_that_is_none_or_past_or_far_is_refused_when_bringing_and_when_asking(typed: str) -> None:
    owner = person(Role.INVESTIGATOR)
    browser = logged_in(owner)
    assert "Write a day after today and within ten years" in words(bring(browser, {**TYPED_TABLE, "delete_on": typed}, quiz_file()))
    assert not DataSet.objects.exists()
    made = data_set(owner)
    sent = {"action": "submit", "epsilon": "1", "rarity": "1000000", "delete_on": typed}
    refused = browser.post(reverse("analysis:data_set", args=[made.slug]), sent)
    assert (refused.status_code, bool(page_of(refused).xpath("//*[@id='delete_on-error']"))) == (422, True)
    assert DataSet.objects.get().status == "draft"
