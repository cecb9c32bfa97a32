"""Random schedules of questions, deaths of workers, freezes and lowered budgets: what is drawn never exceeds what was approved."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from django.db import transaction
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from accounts.models import Role, User
from analysis.ledger import accounts, services
from analysis.ledger.errors import LedgerError
from analysis.ledger.questions import KINDS
from analysis.ledger.remembered import folder_of_charges
from analysis.ledger.selectors import asked_before
from analysis.ledger.units import Units
from analysis.models import Asking, Budget, Source
from candor.privacy.conversion import rho_within
from candor.privacy.losses import Loss
from jobs import tasks
from tests.factories import person
from tests.jobs import fall_silent, work_on
from tests.ledgers import Solved, budget_of, open_source, solved

pytestmark = pytest.mark.django_db

DIES = ("", "exact", "release", "released", "explain")


class Mortal(Solved):
    """Its worker dies at one point, the first time; what was drawn is noted outside the ledger."""

    kind: Literal["solved"] = "solved"
    dies: str = ""

    def _die(self, where: str) -> None:
        if self.dies == where and (self.marker, where) not in DEAD:
            DEAD.add((self.marker, where))
            raise SystemExit(where)

    def exact(self, table: Any) -> Any:
        self._die("exact")
        return [0]

    def release(self, exact: Any) -> tuple[Any, Loss]:
        self._die("release")
        loss = Loss.zcdp(self.rho) if self.rho is not None else Loss.pure(self.epsilon or 0.0)
        DRAWN.append((self.marker, loss))
        self._die("released")
        return {"people": [0]}, loss

    def explain(self, released: Any, schema: Any, n: int) -> Any:
        self._die("explain")
        return released


DEAD: set[tuple[str, str]] = set()
DRAWN: list[tuple[str, Loss]] = []


@dataclass
class World:
    source: Source
    owner: User
    officer: User
    epsilon: float = 1.0
    asked: list[tuple[str, float, str, int]] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=dict)

    def ask(self, question: tuple[str, float, str, int]) -> None:
        self.asked.append(question)
        how, share, dies, marker = question
        price = {"rho": share * rho_within(1.0, 1e-6)} if how == "gaussian" else {"epsilon": share}
        name = f"{marker} {how} {share} {dies}"
        with suppress(LedgerError):
            asked = services.ask(self.source, solved(marker=name, dies=dies, **price), actor=self.owner)
            if asked.answer is not None:
                assert self.answers.setdefault(name, asked.answer) == asked.answer

    def again(self, question: tuple[str, float, str, int]) -> None:
        """Somebody asks what was asked before."""
        if self.asked:
            self.ask(self.asked[question[3] % len(self.asked)])

    def work(self, _drawn: object) -> None:
        """A worker takes everything that waits; where one dies, the sweep has another one take over."""
        for asking in Asking.objects.filter(due_at__isnull=False, holder=None):
            with suppress(SystemExit):
                work_on(asking)
        for asking in Asking.objects.filter(holder__isnull=False):
            fall_silent(asking)
        tasks.sweep()

    def abandon(self, _drawn: object) -> None:
        """Workers take what waits and fall silent, until it is given up."""
        for asking in Asking.objects.filter(due_at__isnull=False, holder=None)[:1]:
            while (taken := Asking.claim(asking.pk)) is not None:
                fall_silent(taken)
                tasks.sweep()

    def freeze(self, _drawn: object) -> None:
        with suppress(LedgerError):
            services.freeze(self.source, reason="A test.", actor=self.officer)

    def unfreeze(self, _drawn: object) -> None:
        with suppress(LedgerError):
            services.unfreeze(self.source, actor=self.officer)

    def lower(self, question: tuple[str, float, str, int]) -> None:
        with suppress(LedgerError):
            services.lower(self.source, epsilon=self.epsilon * (1 - question[1] / 4), delta=1e-6, actor=self.officer)
            self.epsilon *= 1 - question[1] / 4

    def check(self) -> None:
        """All noise that was drawn is within the approved budget, each noise is paid, and none was drawn twice for one charge."""
        budget, drawn = budget_of(self.source), sum((Units.of(loss) for _marker, loss in DRAWN), Units())
        pure = drawn.epsilon is not None and drawn.epsilon <= budget.epsilon_units
        assert drawn.rho <= budget.rho_units or pure, f"{drawn} was drawn of {budget}"
        asked = asked_before(budget)
        for name in {marker for marker, _loss in DRAWN}:
            paid = [one for one in asked if one.charge.document["marker"] == name and one.state in ("drawn", "answered")]
            assert sum(marker == name for marker, _loss in DRAWN) <= len(paid), f"noise for {name} was drawn without a charge"
        assert all(one.answer is None or one.state == "answered" for one in asked)


questions = st.tuples(
    st.sampled_from(("gaussian", "laplace")), st.sampled_from((0.05, 0.3, 0.5, 1.0)), st.sampled_from(DIES), st.integers(0, 2)
)
steps = st.tuples(st.sampled_from(("ask", "ask", "again", "again", "work", "work", "abandon", "freeze", "unfreeze", "lower")), questions)
schedules = st.lists(steps, min_size=8, max_size=25)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[Any]], World]:
    source, officer = open_source(), person(Role.IRB_OFFICER)
    monkeypatch.setitem(KINDS, "solved", Mortal)
    monkeypatch.setattr(tasks.work, "apply_async", lambda *arguments, **values: None)

    def take(schedule: list[Any]) -> World:
        DEAD.clear()
        DRAWN.clear()
        shutil.rmtree(folder_of_charges(), ignore_errors=True)  # of schedules before, whose charges would be made again
        world = World(Source.objects.get(pk=source.pk), source.whole.owner, officer)
        with transaction.atomic():
            for step, drawn in schedule:
                getattr(world, step)(drawn)
                world.check()
            transaction.set_rollback(True)
        return world

    return take


def test_no_schedule_draws_more_than_was_approved(run: Callable[[list[Any]], World]) -> None:
    noises, repeated = [], []

    @settings(max_examples=40)
    @given(schedules)
    def holds(schedule: list[Any]) -> None:
        repeated.append(len(run(schedule).answers))
        noises.append(len(DRAWN))

    holds()
    assert sum(map(bool, noises)) > len(noises) / 3, "schedules draw noise"
    assert any(repeated), "an answer is told again"


def without_what_has_no_answer(budget: Budget) -> Units:
    """A wrong ledger: who got no answer has their charge back, although noise was drawn."""
    kept = [one for one in asked_before(budget) if one.state == "answered" or one.waits]
    return sum((one.price for one in kept), Units())


def test_a_ledger_that_returns_budget_after_drawing_is_caught(run: Callable[[list[Any]], World], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "spent", without_what_has_no_answer)

    def is_caught(schedule: list[Any]) -> bool:
        try:
            run(schedule)
        except AssertionError:
            return True
        return False

    try:
        find(schedules, is_caught, settings=settings(max_examples=500, database=None, phases=[Phase.generate]))
    except NoSuchExample:
        pytest.fail("no schedule finds the wrong ledger")
