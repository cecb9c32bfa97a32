"""The ledger, remembered beside the database: one from a back-up must not give out what was spent or frozen after the back-up was made.

Each charge is one file below MEDIA_ROOT, in a folder of its source: the hash of a study's first allocation list, or the short name of a
data set. A new study with the address of one that the back-up has lost is another source. A worker writes the file before the charge is
drawn, and so before any noise is there. Its name is drawn with the charge. Beside them stand the limits of the budget: how large it is and
whether it is frozen, in a file for each change, whose name has the number of the change. A file that the ledger does not know is of the
time that the back-up has lost. It is done again before anything is asked. A known file goes when the last back-up that can lack it is gone.
"""

import hashlib
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TypeVar

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import TypeAdapter, ValidationError

from accounts.models import User
from analysis import actions
from analysis.ledger.errors import ASKED_SINCE, RETURNED_HERE, LedgerError
from analysis.models import Asking, AskingStatus, Budget, Charge, ChargeStep, Reached, Snapshot, Source
from audit.beside import write_beside
from audit.services import record
from surveys.lifecycle.selectors import hash_of_first_list

T = TypeVar("T")
FOLDER = ".charges"
OF_STUDY, OF_DATA_SET = "study-", "data-set-"
"""The beginnings of the names of folders."""
NAME = re.compile(r"[0-9a-f]{32}")
"""The name of a charge's file."""
LIMITS = re.compile(r"limits-(?P<number>[0-9]{1,9})")
"""The name of the file of a budget's limits, after so many changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """The content of a file: a charge, without the answer."""

    number: int
    kind: str
    document: dict[str, object]
    sha256: str
    rho_units: int
    epsilon_units: int | None
    snapshot: int
    n: int
    asked_by: str
    asked_on: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The content of a file: a budget after a change. Whether it was frozen is told by the day."""

    epsilon: float
    delta: float
    epsilon_units: int
    rho_units: int
    frozen_on: date | None
    frozen_by: str
    frozen_because: str


CONTENT = TypeAdapter(Remembered)
CONTENT_OF_LIMITS = TypeAdapter(Limits)


def folder_of_charges() -> Path:
    return Path(settings.MEDIA_ROOT) / FOLDER


def remembered_data_sets() -> set[str]:
    """The short names of data sets whose budget was spent or changed here, also of those that a restored back-up does not know."""
    folder = folder_of_charges()
    return {path.name.removeprefix(OF_DATA_SET) for path in folder.glob(f"{OF_DATA_SET}*")} if folder.is_dir() else set()


def remember(charge: Charge) -> None:
    """Write it to the disk, before the transaction that draws it is committed.

    Should the power fail between the two, the charge is spent without an answer. A charge has no name if a version without this memory
    reserved it during an upgrade; it is not remembered.
    """
    if not charge.memory:
        return
    content = Remembered(
        number=charge.number,
        kind=charge.kind,
        document=charge.document,
        sha256=charge.sha256,
        rho_units=charge.rho_units,
        epsilon_units=charge.epsilon_units,
        snapshot=charge.snapshot,
        n=charge.n,
        asked_by=charge.asked_by.get_username(),
        asked_on=charge.asked_on,
    )
    _write(charge.budget.source, charge.memory, CONTENT.dump_json(content).decode())


def remember_limits(budget: Budget) -> None:
    """Write a change to the disk, before the transaction that makes it is committed.

    Should the power fail between the two, the change is made by the next replay, or before the next question.
    """
    content = Limits(
        epsilon=budget.epsilon,
        delta=budget.delta,
        epsilon_units=budget.epsilon_units,
        rho_units=budget.rho_units,
        frozen_on=budget.frozen_on,
        frozen_by=budget.frozen_by.get_username() if budget.frozen_by else "",
        frozen_because=budget.frozen_because,
    )
    _write(budget.source, f"limits-{budget.changes}", CONTENT_OF_LIMITS.dump_json(content).decode())


@dataclass(frozen=True, slots=True)
class Again:
    """The things that were done again in a ledger: charges, and whether its budget was frozen or lowered."""

    charges: int
    limits: int


def make_whole(source: Source, *, within: Path | None = None) -> Again:
    """Do everything again that the files tell and the ledger does not know. Twice does no harm.

    `within`: the folder of all sources, if it is not the usual one. Raises LedgerError for a file that cannot be read.
    """
    return Again(charge_again(source, within=within), limit_again(source, within=within))


def limit_again(source: Source, *, within: Path | None = None) -> bool:
    """Freeze or lower a budget again, as it was after the last change that the files tell, if the ledger does not know that one.

    Nothing is unfrozen: an officer can do that, and nobody is harmed until then.
    """
    folder = _of_source(source, within or folder_of_charges())
    last = max(_changes_in(folder), default=0)
    if not Budget.objects.filter(source=source, changes__lt=last).exists():
        return False
    with transaction.atomic():
        budget = Budget.objects.select_for_update(of=("self",)).get(source=source)
        if budget.changes >= last:
            return False
        limits = _read(CONTENT_OF_LIMITS, folder / f"limits-{last}")
        before = (budget.epsilon_units, budget.rho_units, budget.frozen_on)
        for name in ("epsilon", "delta", "epsilon_units", "rho_units"):
            setattr(budget, name, min(getattr(budget, name), getattr(limits, name)))
        if limits.frozen_on is not None and budget.frozen_on is None:
            budget.frozen_on, budget.frozen_because = limits.frozen_on, limits.frozen_because
            budget.frozen_by = User.objects.filter(username=limits.frozen_by).first() or source.whole.owner
        budget.changes = last
        budget.save()
        changed = before != (budget.epsilon_units, budget.rho_units, budget.frozen_on)
        if changed:
            details = {"epsilon": budget.epsilon, "delta": budget.delta, "frozen": budget.frozen_on is not None}
            record(actor=None, action=actions.LIMITED_AGAIN, subject=source.whole, details=details)
    return changed


def charge_again(source: Source, *, within: Path | None = None) -> int:
    """Charge everything that the files tell and the ledger does not know; how many charges that were. Twice does no harm.

    `within`: the folder of all sources, if it is not the usual one. A source without a table waits: nobody can ask about it either.
    Raises LedgerError for a file that cannot be read.
    """
    folder = _of_source(source, within or folder_of_charges())
    names = _names_in(folder)
    if not names or names <= _known(source, names):
        return 0
    with transaction.atomic():
        budget = Budget.objects.select_for_update(of=("self",)).filter(source=source).first()
        newest = Snapshot.objects.filter(source=source, schema__isnull=False).order_by("-number").first()
        if budget is None or newest is None:
            return 0
        missing = {name: _read(CONTENT, folder / name) for name in names - _known(source, names)}
        there = {charge.memory: charge for charge in Charge.objects.filter(budget=budget, memory__in=missing).prefetch_related("steps")}
        for name, content in sorted(missing.items(), key=lambda one: one[1].number):
            charge = there.get(name)
            if charge is None or charge.steps.all():  # it was returned here, before anybody looked at the files
                charge = _lost(budget, newest, name, content, returned=charge)
            ChargeStep.objects.create(charge=charge, place=1, reached=Reached.DRAWN, reached_on=content.asked_on)
        if missing:
            record(actor=None, action=actions.CHARGED_AGAIN, subject=source.whole, details={"charges": len(missing)})
    return len(missing)


def forget_known(source: Source) -> None:
    """Delete the files of charges and limits that every back-up knows which is not destroyed by now."""
    folder = _of_source(source, folder_of_charges())
    before = (timezone.now() - timedelta(days=settings.BACKUP_DAYS + 1)).timestamp()
    changes = Budget.objects.filter(source=source).values_list("changes", flat=True).first() or 0
    limits = {f"limits-{number}" for number in _changes_in(folder) if number <= changes}
    for name in _known(source, _names_in(folder)) | limits:
        with suppress(FileNotFoundError):  # another worker was at it
            if (folder / name).stat().st_mtime < before:
                (folder / name).unlink()


def _of_source(source: Source, folder: Path) -> Path:
    name = f"{OF_STUDY}{hash_of_first_list(source.study)}" if source.study else f"{OF_DATA_SET}{source.whole.slug}"
    return folder / name


def _names_in(folder: Path) -> set[str]:
    """The files of charges. Other files in the folder are nobody's."""
    return {path.name for path in folder.iterdir() if NAME.fullmatch(path.name)} if folder.is_dir() else set()


def _changes_in(folder: Path) -> set[int]:
    """The numbers of the changes of a budget that files tell."""
    found = (LIMITS.fullmatch(path.name) for path in folder.iterdir()) if folder.is_dir() else ()
    return {int(name["number"]) for name in found if name is not None}


def _known(source: Source, names: Iterable[str]) -> set[str]:
    """The names of charges that the ledger knows to be spent."""
    called = {name: {name, _second_name(name)} for name in names}
    steps = ChargeStep.objects.filter(charge__budget__source=source, charge__memory__in={one for both in called.values() for one in both})
    spent = set(steps.exclude(reached=Reached.RETURNED).values_list("charge__memory", flat=True))
    return {name for name, both in called.items() if both & spent}


def _second_name(name: str) -> str:
    """The name of the charge that stands for one that was returned although noise had been drawn for it."""
    return hashlib.sha256(name.encode()).hexdigest()[: len(name)]


def _write(source: Source, name: str, text: str) -> None:
    write_beside(_of_source(source, folder_of_charges()) / name, text)


def _read(content: TypeAdapter[T], path: Path) -> T:
    try:
        return content.validate_json(path.read_bytes())
    except ValidationError:
        raise LedgerError(
            _(
                "Expected a remembered charge or budget in %(file)s, found something else. "
                "Nothing is spent until an administrator has put it right."
            )
            % {"file": path}
        ) from None


def _lost(budget: Budget, newest: Snapshot, name: str, content: Remembered, *, returned: Charge | None) -> Charge:
    """A charge that the back-up does not know, or knew as reserved and that was returned since, after those that are there. The answer is
    lost.
    """
    tables = Snapshot.objects.filter(source=budget.source_id, schema__isnull=False)
    charge = Charge.objects.create(
        budget=budget,
        number=Charge.objects.filter(budget=budget).count() + 1,
        kind=content.kind,
        document=content.document,
        sha256=content.sha256,
        rho_units=content.rho_units,
        epsilon_units=content.epsilon_units,
        snapshot=content.snapshot if tables.filter(number=content.snapshot).exists() else newest.number,
        n=content.n,
        asked_by=User.objects.filter(username=content.asked_by).first() or budget.source.whole.owner,
        asked_on=content.asked_on,
        memory=_second_name(name) if returned else name,
    )
    told = {"person": content.asked_by, "number": returned.number if returned else content.number}
    why = (RETURNED_HERE if returned else ASKED_SINCE) % told
    Asking.objects.create(charge=charge, status=AskingStatus.FAILED, error=why)
    return charge
