"""The ledger after a withdrawal: charges and answers with noise stay, rows and exact answers go."""

from typing import Any

import pytest
from django.urls import reverse

from analysis.ledger import services
from analysis.ledger.accounts import spent
from analysis.ledger.errors import LedgerError
from analysis.ledger.page import ledger_of
from analysis.ledger.selectors import asked_before
from analysis.ledger.serializers import ledger_document
from analysis.ledger.units import UNITS
from analysis.models import Asking, ChargeStep, Snapshot, Source
from surveys.models import Participant
from tests.factories import logged_in
from tests.jobs import work_on
from tests.ledgers import Solved, asked_and_answered, budget_of, make_snapshot, open_source, solved, study_with_budget, withdraw

pytestmark = pytest.mark.django_db


def test_after_a_withdrawal_there_is_a_new_snapshot_and_the_ledger_stays() -> None:
    source = open_source()
    answered, exact = asked_and_answered(source, rho=0.001), asked_and_answered(source)
    assert exact.answer["of"] == 96
    waiting = services.ask(source, solved(rho=0.002), actor=source.study.owner)
    withdraw(source)
    assert list(Snapshot.objects.order_by("number").values_list("number", "status")) == [(1, "replaced"), (2, "making")]
    assert not Snapshot.objects.exclude(data=None).exists()
    with pytest.raises(LedgerError, match="being made"):
        services.ask(source, solved(rho=0.003), actor=source.study.owner)
    work_on(waiting.charge.asking)
    charges = asked_before(budget_of(source))
    assert [(one.state, one.answer is None) for one in charges] == [("answered", False), ("answered", True), ("returned", True)]
    assert make_snapshot(source).n == Participant.objects.filter(study=source.study, counted=True).count() < 96
    assert spent(budget_of(source)).rho == UNITS // 1000
    again = services.ask(source, solved(rho=0.001), actor=source.study.owner)
    assert again.answer == answered.answer
    assert asked_and_answered(source, rho=0.002).state == "answered"
    assert asked_and_answered(source).answer["of"] < 96


def test_an_exact_answer_goes_with_somebody_who_withdraws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: ask what the die protects, which is free and exact, and publish it after somebody of whom it tells has left."""
    source = open_source()
    exact = asked_and_answered(source)
    assert exact.answer is not None
    withdraw(source)
    assert not Asking.objects.exclude(released=None)
    assert not any(ChargeStep.objects.filter(charge=exact.charge, reached="answered").values_list("answer", flat=True))
    [shown] = ledger_document({}, ledger_of(source))["charges"]
    assert (shown["answer"], shown["reason"]) == (None, "Replaced: somebody withdrew")
    make_snapshot(source)
    explain = Solved.explain

    def leave_and_explain(*given: Any) -> Any:
        withdraw(source)
        return explain(*given)

    monkeypatch.setattr(Solved, "explain", leave_and_explain)
    work_on(services.ask(source, solved(), actor=source.study.owner).charge.asking)
    late = asked_before(budget_of(source))[-1]
    assert (late.state, late.answer) == ("drawn", None)
    assert not Asking.objects.exclude(released=None)


def test_a_withdrawal_takes_the_work_on_a_snapshot_away() -> None:
    from tests.jobs import attempt, claimed

    source = Source.objects.get(study=study_with_budget())
    held = claimed(Snapshot.objects.get())
    withdraw(source)
    attempt(held)
    assert list(Snapshot.objects.order_by("number").values_list("status", flat=True)) == ["replaced", "making"]
    assert make_snapshot(source).status == "ready"


def test_a_repeated_request_gives_no_exact_answer_back_after_a_withdrawal() -> None:
    """Attack: ask again under an `Idempotency-Key`, and repeat this request once somebody has left."""
    source = open_source()
    browser = logged_in(source.study.owner)
    address = reverse("analysis:api_analytics_questions", args=[source.study.slug])
    asked = {"question": {"kind": "histogram", "by": [{"column": "arm"}], "epsilon": 1}}
    assert browser.post(address, asked, content_type="application/json").json()["answer"] is None
    work_on(Asking.objects.get())
    key = {"idempotency-key": "the-same-key-again"}
    given, again = (browser.post(address, asked, content_type="application/json", headers=key) for _time in range(2))
    assert given.json()["answer"]["cells"] == again.json()["answer"]["cells"]
    withdraw(source)
    refused = browser.post(address, asked, content_type="application/json", headers=key)
    assert (refused.status_code, refused.json()["type"]) == (403, "urn:candor:problem:idempotency-rights-changed")
    assert "cells" not in refused.content.decode()
