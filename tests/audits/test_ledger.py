"""The ledger itself, attacked: however often a worker fails after it drew noise, what was drawn is within the budget."""

from typing import Any

import numpy as np
import pytest

from analysis.ledger import accounts, services
from analysis.ledger.errors import LedgerError
from analysis.ledger.selectors import asked_before
from analysis.ledger.units import Units
from analysis.models import Budget
from candor.privacy.auditing import Audit
from candor.privacy.losses import Loss
from candor.privacy.noise import discrete_laplace
from candor.privacy.sensitivity import Sensitivity
from tests.jobs import work_on
from tests.ledgers import Solved, open_source, solved

pytestmark = pytest.mark.django_db

RUNS = 4000
SURE = 1 - 1e-7
TRIES = 6


def draws_allowed(monkeypatch: pytest.MonkeyPatch) -> int:
    """How often one can have noise drawn for a question that costs the whole budget, if the worker fails each time after drawing it."""
    drawn = 0

    def fails_after_the_noise(question: Solved, exact: Any) -> Any:
        nonlocal drawn
        drawn += 1
        raise ZeroDivisionError("after the noise")

    monkeypatch.setattr(Solved, "release", fails_after_the_noise)
    source = open_source(epsilon=1.0)
    for _ in range(TRIES):
        try:
            asked = services.ask(source, solved(epsilon=1.0), actor=source.whole.owner)
        except LedgerError:
            break
        with pytest.raises(ZeroDivisionError):
            work_on(asked.charge.asking)
    return drawn


def attack(draws: int) -> Audit:
    """Somebody sees all of these draws of a count that is 0 or 1: their sum tells the two worlds apart best of all sums."""

    def draw(world: int, runs: int) -> Any:
        counts = np.full((runs, draws), world)
        noisy = discrete_laplace(counts, sensitivity=Sensitivity(l1=1, l2_squared=1, linf=1), epsilon=1.0)
        return np.clip(noisy.values, 0, 1).sum(axis=1).astype(float)

    return Audit(claim=Loss.pure(1.0), draw=draw)


def test_what_was_drawn_is_within_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = draws_allowed(monkeypatch)
    assert draws == 1
    assert attack(draws).excess(RUNS, confidence=SURE) <= 0


def test_a_ledger_that_returns_budget_after_drawing_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_what_has_no_answer(budget: Budget) -> Units:
        kept = [one for one in asked_before(budget) if one.state == "answered" or one.waits]
        return sum((one.price for one in kept), Units())

    monkeypatch.setattr(accounts, "spent", without_what_has_no_answer)
    draws = draws_allowed(monkeypatch)
    assert draws == TRIES
    assert attack(draws).excess(RUNS, confidence=SURE) > 1
