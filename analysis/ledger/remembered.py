"""Charges, remembered beside the database: a ledger from a back-up must not give out again what was spent after the back-up was made.

Each is one file below MEDIA_ROOT, in a folder of its source. A worker writes it before the charge is drawn, and so before any noise is
there. Its name is drawn with the charge. A file that the ledger does not know is a charge of the time that the back-up has lost. It is
charged again before anything else is. A known file goes when the last back-up that can lack it is gone.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import TypeAdapter, ValidationError

from accounts.models import User
from analysis import actions
from analysis.ledger.errors import LedgerError
from analysis.models import Asking, AskingStatus, Budget, Charge, ChargeStep, Reached, Snapshot, Source
from audit.beside import write_beside
from audit.services import record

FOLDER = ".charges"
NAME = re.compile(r"[0-9a-f]{32}")
"""The name of a file."""


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


CONTENT = TypeAdapter(Remembered)


def folder_of_charges() -> Path:
    return Path(settings.MEDIA_ROOT) / FOLDER


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
    folder = _of_source(charge.budget.source, folder_of_charges())
    folder.mkdir(parents=True, exist_ok=True)
    write_beside(folder / charge.memory, CONTENT.dump_json(content).decode())


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
        missing = {name: _content(folder / name) for name in names - _known(source, names)}
        reserved = {charge.memory: charge for charge in Charge.objects.filter(budget=budget, memory__in=missing)}
        for name, content in sorted(missing.items(), key=lambda one: one[1].number):
            charge = reserved.get(name) or _lost(budget, newest, name, content)
            ChargeStep.objects.create(charge=charge, place=1, reached=Reached.DRAWN, reached_on=content.asked_on)
        if missing:
            record(actor=None, action=actions.CHARGED_AGAIN, subject=source.whole, details={"charges": len(missing)})
    return len(missing)


def forget_known(source: Source) -> None:
    """Delete the files of charges that every back-up knows which is not destroyed by now."""
    folder = _of_source(source, folder_of_charges())
    before = (timezone.now() - timedelta(days=settings.BACKUP_DAYS + 1)).timestamp()
    for name in _known(source, _names_in(folder)):
        with suppress(FileNotFoundError):  # another worker was at it
            if (folder / name).stat().st_mtime < before:
                (folder / name).unlink()


def _of_source(source: Source, folder: Path) -> Path:
    return folder / f"{'study' if source.study_id else 'data-set'}-{source.whole.slug}"


def _names_in(folder: Path) -> set[str]:
    """The files of charges. Other files in the folder are nobody's."""
    return {path.name for path in folder.iterdir() if NAME.fullmatch(path.name)} if folder.is_dir() else set()


def _known(source: Source, names: Iterable[str]) -> set[str]:
    """The names of charges that the ledger knows to be spent."""
    drawn = ChargeStep.objects.filter(charge__budget__source=source, charge__memory__in=names)
    return set(drawn.values_list("charge__memory", flat=True))


def _content(path: Path) -> Remembered:
    try:
        return CONTENT.validate_json(path.read_bytes())
    except ValidationError:
        raise LedgerError(
            _("Expected a remembered charge in %(file)s, found something else. Nothing is spent until an administrator has put it right.")
            % {"file": path}
        ) from None


def _lost(budget: Budget, newest: Snapshot, name: str, content: Remembered) -> Charge:
    """A charge that the back-up does not know, after those that it knows. The answer is lost."""
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
        memory=name,
    )
    why = _("%(person)s asked this as no. %(number)s after the back-up was made that this database comes from. The answer is not in it.")
    Asking.objects.create(charge=charge, status=AskingStatus.FAILED, error=why % {"person": content.asked_by, "number": content.number})
    return charge
