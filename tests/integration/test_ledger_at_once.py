"""Many who spend one budget at once, and workers that are killed at every point of an answer."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections

from analysis.ledger.accounts import account_of
from analysis.ledger.errors import LedgerError
from analysis.ledger.questions import KINDS
from analysis.ledger.selectors import asked_before
from analysis.ledger.services import ask
from analysis.ledger.units import UNITS
from analysis.models import Asking, Charge, ChargeStep, Source
from jobs import tasks
from tests.jobs import fall_silent, work_on
from tests.ledgers import Solved, askings, budget_of, open_source, register, solved
from tests.processes import copy_of_embedded

PROCESSES, EACH = 64, 3
FIT = 100
fork = get_context("fork")


def in_processes(*acts: Callable[[], object]) -> list[int]:
    """Do each act in a process of its own, with a connection of its own; their exit codes."""
    connections.close_all()

    def perform(act: Callable[[], object]) -> None:
        try:
            act()
            connections.close_all()
        except BaseException:
            os._exit(1)
        os._exit(0)

    processes = [fork.Process(target=perform, args=(act,)) for act in acts]
    for process in processes:
        process.start()
    for process in processes:
        process.join(300)
    return [process.exitcode if process.exitcode is not None else 1 for process in processes]


@pytest.mark.usefixtures("postgresql")
def test_64_processes_that_spend_at_once_use_the_budget_to_its_end_and_no_unit_more() -> None:
    source = open_source(epsilon=1.0)
    price = budget_of(source).rho_units // FIT / UNITS
    everybody_is_here = fork.Barrier(PROCESSES)

    def spend(process: int) -> None:
        mine = Source.objects.get(pk=source.pk)
        everybody_is_here.wait(200)
        for place in range(EACH):
            with suppress(LedgerError):
                ask(mine, solved(rho=price, marker=f"{process} {place}"), actor=mine.whole.owner)

    assert set(in_processes(*[lambda one=one: spend(one) for one in range(PROCESSES)])) == {0}
    account = account_of(budget_of(source))
    assert Charge.objects.count() == FIT < PROCESSES * EACH
    assert account.spent.rho <= account.rho
    assert account.rho_left < price * UNITS
    assert list(Charge.objects.values_list("number", flat=True)) == list(range(1, FIT + 1))


@pytest.mark.usefixtures("postgresql")
def test_the_same_question_from_many_at_once_is_charged_once() -> None:
    source = open_source()

    def same() -> None:
        mine = Source.objects.get(pk=source.pk)
        ask(mine, solved(rho=0.001), actor=mine.whole.owner)

    assert set(in_processes(*[same] * 16)) == {0}
    assert Charge.objects.count() == Asking.objects.count() == 1


THREADS = """
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier
from django.db import connection, connections
from analysis.ledger.accounts import account_of
from analysis.ledger.errors import LedgerError
from analysis.ledger.services import ask
from analysis.ledger.units import UNITS
from analysis.models import Charge
from tests.ledgers import budget_of, open_source, solved
assert connection.vendor == "sqlite"
source = open_source()
owner, price, barrier = source.study.owner, budget_of(source).rho_units // 20 / UNITS, Barrier(8)
def spend(thread):
    barrier.wait(60)
    try:
        for place in range(6):
            try:
                ask(source, solved(rho=price, marker=f"{thread} {place}"), actor=owner)
            except LedgerError as error:
                assert "The rest is" in str(error), error
    finally:
        connections.close_all()
with ThreadPoolExecutor(8) as pool:
    list(pool.map(spend, range(8)))
account = account_of(budget_of(source))
assert Charge.objects.count() == 20, Charge.objects.count()
assert account.spent.rho <= account.rho and account.rho_left < price * UNITS
print("held")
"""


def test_8_threads_on_sqlite_use_the_budget_to_its_end_and_no_unit_more(tmp_path: Path, migrated_folder: Path) -> None:
    site = copy_of_embedded(tmp_path / "var", like=migrated_folder)  # no worker runs there: it would return charges of the tests' kind
    assert site.manage("shell", "-c", THREADS).strip().endswith("held")


class Watched(Solved):
    """Writes each draw of noise down where a killed process cannot take it back, and dies where it is told."""

    drawn_in: str = ""
    dies: str = ""

    def _die(self, where: str) -> None:
        if self.dies == where and not Path(f"{self.drawn_in}.killed").exists():
            Path(f"{self.drawn_in}.killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def exact(self, table: Any) -> Any:
        found = super().exact(table)
        self._die("before the draw")
        return found

    def release(self, exact: Any) -> Any:
        self._die("before the noise")
        with Path(self.drawn_in).open("a") as log:
            log.write("noise\n")
        found = super().release(exact)
        self._die("after the noise")
        return found

    def explain(self, released: Any, schema: Any, n: int) -> Any:
        self._die("before the answer")
        return super().explain(released, schema, n)


# Where the worker dies → what becomes of the charge, and how often noise was drawn for it.
ENDS = {
    "before the draw": ("answered", 1),
    "before the noise": ("drawn", 0),
    "after the noise": ("drawn", 1),
    "before the answer": ("answered", 1),
    "nowhere": ("answered", 1),
}


@pytest.mark.usefixtures("postgresql")
@pytest.mark.parametrize("where", ENDS)
def test_a_killed_worker_leaves_no_unpaid_answer_and_no_second_noise(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = open_source()
    register()
    monkeypatch.setitem(KINDS, "solved", Watched)
    log = tmp_path / "noise"
    document = solved(rho=0.001, drawn_in=str(log), dies=where)
    asking = ask(source, document, actor=source.whole.owner).charge.asking
    [code] = in_processes(lambda: work_on(asking))
    assert code == (0 if where == "nowhere" else -signal.SIGKILL)
    answers = ChargeStep.objects.filter(reached="answered").count()
    assert answers == (1 if where == "nowhere" else 0)
    fall_silent(asking)
    tasks.sweep()
    [code] = in_processes(lambda: work_on(asking))
    assert code == 0
    [asked] = asked_before(budget_of(source))
    expected, times = ENDS[where]
    assert asked.state == expected
    assert (log.read_text().count("noise") if log.exists() else 0) == times
    assert account_of(budget_of(source)).spent.rho == UNITS // 1000
    assert not asked.waits
    if expected == "drawn":
        assert "The charge is spent" in asked.reason
        again = ask(source, document, actor=source.whole.owner)
        assert again.charge.number == 2


@pytest.mark.usefixtures("postgresql")
def test_who_is_killed_while_reserving_leaves_nothing() -> None:
    source = open_source()

    def die(*arguments: object, **values: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def reserve() -> None:
        from analysis.ledger import services

        services.record = die
        ask(source, solved(rho=0.001), actor=source.whole.owner)

    assert in_processes(reserve) == [-signal.SIGKILL]
    connection.ensure_connection()
    assert (Charge.objects.count(), askings()) == (0, [])
    assert ask(source, solved(rho=0.001), actor=source.whole.owner).charge.number == 1
