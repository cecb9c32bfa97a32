"""A privacy budget in a local file: a line for each thing that happened, appended under a lock and never changed.

The price of a question is on the disk before any noise is drawn. From then on Ctrl-C waits for the answer. A process that is killed leaves
the price spent.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import IO, NotRequired, TypedDict

from candor.designs.privacy_words import loss, remainder
from candor.errors import DataError, QuestionError
from candor.privacy.conversion import rho_within
from candor.privacy.losses import Loss
from candor.queries.columns import Table
from candor.queries.questions import Question
from candor.written_json import json_in

FORMAT = "candor budget 1"
SECRET_BYTES = 32


class Charge(TypedDict):
    """A question, its price, and its answer once there is one."""

    question: dict[str, object]
    sha256: str
    rho: float
    epsilon: float | None
    answer: NotRequired[dict[str, object]]


class BudgetError(QuestionError):
    """A question that a budget does not allow, or a budget file that does not belong here."""


class Left(TypedDict):
    """The rest of a budget; `epsilon` where all questions so far were pure."""

    rho: float
    epsilon: float | None


@dataclass
class BudgetFile:
    """An open, locked budget. Made by `opened`.

    Parameters
    ----------
    epsilon, delta : float
        What all questions together may cost.
    secret : bytes
        Key of the hash that chooses the entries of a student.
    data : str or None
        The hash of the table and its schema, which stands in the file from the first charge on.
    is_new : bool
        Whether the file is still empty: its first line, which fixes ε and δ, is written when the table is known.
    """

    file: IO[bytes]
    epsilon: float
    delta: float
    secret: bytes
    data: str | None = None
    charges: list[Charge] = field(default_factory=list)
    is_new: bool = False

    @property
    def rho(self) -> float:
        """The zCDP ρ that the budget amounts to."""
        return rho_within(self.epsilon, self.delta)

    @property
    def spent(self) -> Loss:
        """The sum of all charges, answered or not."""
        total = Loss(0.0, 0.0)
        for charge in self.charges:
            total += Loss(charge["rho"], charge["epsilon"])
        return total

    def fits(self, price: Loss) -> bool:
        """Whether Σρ stays within the budget's ρ, or all is pure and Σε stays within its ε. Sums are of decimals: five times 0.2 is 1."""
        losses = [Loss(charge["rho"], charge["epsilon"]) for charge in self.charges] + [price]
        rho = sum(Fraction(repr(loss.rho)) for loss in losses)
        pure = [loss.pure_epsilon for loss in losses]
        by_sum = sum(Fraction(repr(epsilon)) for epsilon in pure if epsilon is not None) <= Fraction(repr(self.epsilon))
        return rho <= Fraction(repr(self.rho)) or (by_sum and None not in pure)

    def left(self) -> Left:
        """The rest: ρ, and Σε where everything so far was pure."""
        spent = self.spent
        pure = None if spent.pure_epsilon is None else max(self.epsilon - spent.pure_epsilon, 0.0)
        return {"rho": max(self.rho - spent.rho, 0.0), "epsilon": pure}

    def belongs_to(self, data: str) -> None:
        """Raises BudgetError for other data than those of the first charge: a budget is for one frozen table.

        The first charge writes which data these are: a preview, or a question that is refused, may have had the wrong ones.
        """
        if self.data is None:
            self.data = data
            self._write()
        elif self.data != data:
            raise BudgetError("expected the data and schema that this budget began with, found others: a budget is for one frozen table")

    def earlier(self, question: Question) -> dict[str, object] | None:
        """The answer that the same question got before."""
        found = [charge["answer"] for charge in self.charges if charge["sha256"] == question.sha256 and "answer" in charge]
        return found[-1] if found else None

    def ask(self, question: Question, table: Table) -> dict[str, object]:
        """Reserve the price, draw the noise, and keep the answer. The same question again gives the answer that it got, and is free.

        Parameters
        ----------
        question : Question
            Checked against the schema of the table.
        table : Table
            The rows.

        Raises
        ------
        BudgetError
            The price does not fit; nothing is spent.
        """
        if (answer := self.earlier(question)) is not None:
            return answer
        exact, price = question.exact(table), question.price
        if not self.fits(price):
            left = self.left()
            pure = "" if left["epsilon"] is None else f", or ε = {remainder(left['epsilon'])} while all questions are pure"
            cost = f"ρ = {loss(price.rho)}" if price.pure_epsilon is None else f"ε = {loss(price.pure_epsilon)}"
            raise BudgetError(f"the question costs {cost}; what is left: ρ = {remainder(left['rho'])}{pure}")
        charge: Charge = {"question": question.document(), "sha256": question.sha256, "rho": price.rho, "epsilon": price.pure_epsilon}
        with interrupts_wait():
            if self.data is not None and not self.charges:
                self._append({"data": self.data})
            self._append({"reserved": charge})
            self.charges.append(charge)
            released, spent = question.release(exact)
            if spent.rho > price.rho:
                raise AssertionError(f"expected a loss of at most {price}, found {spent}")
            answer = asdict(question.explain(released, table.schema, table.n)) | {"privacy": question.statement(table.n)}
            self._append({"answered": len(self.charges), "answer": answer})
            charge["answer"] = answer
        return answer

    def _append(self, event: Mapping[str, object]) -> None:
        self._write(event)

    def _write(self, *events: Mapping[str, object]) -> None:
        """These lines to the disk, below the first one, which a new file gets."""
        head = {"format": FORMAT, "epsilon": self.epsilon, "delta": self.delta, "secret": self.secret.hex()}
        self.file.write(b"".join(json.dumps(one, allow_nan=False).encode() + b"\n" for one in ((head, *events) if self.is_new else events)))
        self.is_new = False
        self.file.flush()
        os.fsync(self.file.fileno())


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Let Ctrl-C wait until a price that is paid has its answer: some milliseconds. In other threads than the main one nothing comes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(signal.SIGINT)


@contextmanager
def opened(path: Path, *, epsilon: float | None = None, delta: float | None = None) -> Iterator[BudgetFile]:
    """Open a budget file and lock it, so that no other process spends at the same time.

    Parameters
    ----------
    path : Path
        Of the file.
    epsilon, delta : float, optional
        Of a new file; a file that exists must have the same.

    Raises
    ------
    BudgetError
        There is no file and no budget for a new one, or the file is another one than expected.
    """
    import fcntl

    if path.exists() and not path.is_file():
        raise BudgetError(f"{path}: expected a file, which keeps what was spent; found a pipe, a device or a folder")
    if epsilon is not None and delta is not None and not (0 < epsilon <= 10 and 0 < delta < 1):
        raise BudgetError(f"expected a budget with ε above 0 and at most 10, and δ between 0 and 1; found {epsilon!r} and {delta!r}")
    if not (path.exists() and path.stat().st_size) and (epsilon is None or delta is None):
        raise BudgetError(f"{path}: there is no such budget file; give --epsilon and --delta to begin one")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        with os.fdopen(descriptor, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            budget = _read(path, file, epsilon, delta)
            for name, wanted, found in (("epsilon", epsilon, budget.epsilon), ("delta", delta, budget.delta)):
                if wanted is not None and wanted != found:
                    raise BudgetError(f"{path}: expected the {name} of the budget, {found:g}; found {wanted:g}")
            yield budget
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def _read(path: Path, file: IO[bytes], epsilon: float | None, delta: float | None) -> BudgetFile:
    content = file.read()
    whole = content[: content.rfind(b"\n") + 1]
    if not whole:
        if content or epsilon is None or delta is None:
            raise BudgetError(f"{path}: expected a budget file of Candor, found something else")
        return BudgetFile(file, epsilon, delta, secrets.token_bytes(SECRET_BYTES), is_new=True)
    if len(whole) < len(content):  # a line that was cut off: no noise was drawn for it, and nobody saw an answer
        file.truncate(len(whole))
        file.seek(len(whole))
    try:
        head, *events = [json_in(line) for line in whole.splitlines()]
        if head["format"] != FORMAT:
            raise ValueError
        budget = BudgetFile(file, float(head["epsilon"]), float(head["delta"]), bytes.fromhex(head["secret"]))
        for event in events:
            if "reserved" in event:
                budget.charges.append(event["reserved"])
            elif "answered" in event:
                budget.charges[event["answered"] - 1]["answer"] = event["answer"]
            else:
                budget.data = event["data"]
    except (ValueError, KeyError, TypeError, IndexError):
        raise DataError(f"{path}: expected a budget file of Candor, found something else") from None
    return budget
