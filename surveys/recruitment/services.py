"""How people come in: personal codes and numbers at panels, each good for once and never linked to answers."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import User
from audit.services import record
from surveys import actions
from surveys.errors import EntryRefusedError, SurveyError
from surveys.models import EntryCode, PanelMember, Study
from surveys.tokens import completion_code_is_genuine, hash_of_entry_code, normalised, panel_hash
from surveys.ways_in import WayIn

MAXIMUM_CODES = 100_000
MAXIMUM_BYTES = 5 * 1024 * 1024
"""Size limit of a file with codes."""


class CodesError(SurveyError, ValueError):
    title = gettext_lazy("This list of codes cannot be used")
    advice = gettext_lazy("Correct the file and upload it again; no code was added.")


def read_codes(content: bytes, *, source: str = "file") -> list[str]:
    """The codes of a CSV file: its first column, with or without a heading called `code`."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CodesError(
            _("%(source)s: expected a UTF-8 text file, but byte %(position)s is not UTF-8")
            % {"source": source, "position": error.start + 1}
        ) from error
    codes: dict[str, int] = {}
    try:
        rows = csv.reader(io.StringIO(text))
        for row in rows:
            line = rows.line_num
            code = row[0].strip() if row else ""
            if not code or (line == 1 and code.lower() == "code"):
                continue
            if not 4 <= len(normalised(code)) <= 64:
                raise CodesError(
                    _("%(source)s, line %(line)s: expected a code of 4 to 64 letters and digits, got %(found)s")
                    % {"source": source, "line": line, "found": len(normalised(code))}
                )
            if (first := codes.setdefault(normalised(code), line)) != line:
                raise CodesError(
                    _("%(source)s, line %(line)s: the code stands in line %(first)s already (case, spaces and dashes do not count)")
                    % {"source": source, "line": line, "first": first}
                )
    except csv.Error as error:
        raise CodesError(_("%(source)s: not readable as CSV: %(error)s") % {"source": source, "error": error}) from error
    if not 1 <= len(codes) <= MAXIMUM_CODES:
        raise CodesError(
            _("%(source)s: expected 1 to %(most)s codes, got %(found)s")
            % {"source": source, "most": f"{MAXIMUM_CODES:,}", "found": f"{len(codes):,}"}
        )
    return list(codes)


def require_entry(study: Study, way: WayIn, *, code: str, panel_identifier: str) -> None:
    """Refuse an unknown or spent code, and a panel member who was here before. Changes nothing."""
    if way.takes_code:
        spent = _codes(study, code).values_list("spent", flat=True).first()
        if spent is not False:
            raise EntryRefusedError(situation="code_spent" if spent else "code_unknown")
    if way.identifier_in:
        if not panel_identifier:
            raise EntryRefusedError(situation="link_unknown")
        if PanelMember.objects.filter(study=study, identifier=panel_identifier).exists():
            raise EntryRefusedError(situation="already_taken")


def spend_entry(study: Study, way: WayIn, *, code: str, panel_identifier: str, withdrawal_code: str) -> None:
    """Let nobody else come in with this code or number. Raises IntegrityError if the number came in meanwhile."""
    if way.takes_code and not _codes(study, code).filter(spent=False).update(spent=True):
        raise EntryRefusedError(situation="code_spent")
    if way.identifier_in:
        PanelMember.objects.create(study=study, identifier=panel_identifier, panel_hash=panel_hash(withdrawal_code))


def _codes(study: Study, code: str) -> QuerySet[EntryCode]:
    return EntryCode.objects.filter(study=study, code_hash=hash_of_entry_code(code, study.slug))


@transaction.atomic
def add_entry_codes(study: Study, *, codes: Iterable[str], actor: User) -> int:
    """Add codes; existing ones stay as they are. Return the number of new ones."""
    hashes = {hash_of_entry_code(code, study.slug) for code in codes}
    hashes -= set(EntryCode.objects.filter(study=study).values_list("code_hash", flat=True))
    # Sorted by hash, not by the order of the course list.
    EntryCode.objects.bulk_create((EntryCode(study=study, code_hash=one) for one in sorted(hashes)), batch_size=1000)
    record(actor=actor, action=actions.CODES_ADDED, subject=study, details={"count": len(hashes)})
    return len(hashes)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCode:
    """The finding about a completion code: whether this study gave it out, and whether the list repeats it."""

    code: str
    genuine: bool
    repeated: bool


def check_completion_codes(study: Study, *, codes: Sequence[str], actor: User) -> list[CheckedCode]:
    """Check codes that students handed in; the findings tell nothing else about the students."""
    times = Counter(normalised(code) for code in codes)
    record(actor=actor, action=actions.CODES_CHECKED, subject=study, details={"count": len(codes)})
    return [
        CheckedCode(code=code, genuine=completion_code_is_genuine(code, study.slug), repeated=times[normalised(code)] > 1) for code in codes
    ]
