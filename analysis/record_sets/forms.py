"""The form with which somebody brings files of students: every column gets its role by hand."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.data_sets.declarations import columns_of
from analysis.data_sets.forms import NewDataSetForm
from analysis.record_sets.declarations import CSV, MOST_FILES, RECORDS, XAPI, problem_of_file, problem_of_files
from analysis.sources.records.rows import BroughtFile, BroughtRecords
from analysis.sources.records.statements import STATEMENT

NUMBER, ABOVE = "number", "above"
NO_ROLE = ("", gettext_lazy("Choose a role"))
ROLES = (
    ("quasi_identifier", gettext_lazy("Others may know it: made coarser")),
    ("sensitive", gettext_lazy("Sensitive: told as it is, diverse if you like")),
    ("auxiliary", gettext_lazy("Neither alone; many together identify, so made coarser, too")),
    ("identifier", gettext_lazy("A name or address: left out")),
)
OF_CSV = (
    NO_ROLE,
    (NUMBER, gettext_lazy("Number of the student: compared, then thrown away")),
    *ROLES,
    (ABOVE, gettext_lazy("Says to which row it belongs: compared, then thrown away")),
)
KINDS = (
    ("", gettext_lazy("Choose what it holds")),
    (RECORDS, gettext_lazy("Records as the documentation describes them")),
    (XAPI, gettext_lazy("xAPI statements with scores")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFields:
    """One file: its name, its place among the files, and its columns, each with its field, the choices and the chosen one."""

    place: int
    name: str
    kind: str
    is_json: bool
    group: str
    below: str
    on: str
    columns: Sequence[dict[str, object]]
    error: str

    @property
    def group_field(self) -> str:
        return f"group-{self.place}"

    @property
    def below_field(self) -> str:
        return f"below-{self.place}"

    @property
    def on_field(self) -> str:
        return f"on-{self.place}"


class BringRecordsForm(NewDataSetForm):
    """The files by their first lines, which the page reads before anything is sent: `NAME: COLUMN,COLUMN`, and `NAME.json:`."""

    kinds = KINDS

    def __init__(self, sent: QueryDict | None = None, files: Sequence[UploadedFile] = ()) -> None:
        super().__init__(sent)
        self.uploaded = list(files)

    @cached_property
    def first_lines(self) -> list[tuple[str, str]]:
        """The name and the first line of each file."""
        found = []
        for line in str(self.sent.get("header", "")).splitlines()[: MOST_FILES + 1]:
            name, _colon, header = line.partition(":")
            if name.strip():
                found.append((name.strip()[:100], header.strip()))
        return found

    @cached_property
    def declared(self) -> list[BroughtFile]:
        """The files as they were declared so far; `errors` says what is wrong with a first line."""
        return [self._declared(place, name, header) for place, (name, header) in enumerate(self.first_lines)]

    def _declared(self, place: int, name: str, header: str) -> BroughtFile:
        if _is_json(name):
            kind = self.value(f"kind-{place}")
            if kind != XAPI:
                return BroughtFile(name=name, kind=kind)
            return BroughtFile(
                name=name,
                kind=kind,
                group=self.value(f"group-{place}"),
                roles={column: self.value(f"role-{place}-{at}") for at, column in enumerate(STATEMENT)},
                below=self.value(f"below-{place}"),
                on=tuple(filter(None, [self.value(f"on-{place}")])),
            )
        columns, problem = columns_of(header)
        if problem:
            self.errors[f"file-{place}"] = f"{name}: {problem}"
        chosen = {column: self.value(f"role-{place}-{at}") for at, column in enumerate(columns)}
        keys = [column for column, role in chosen.items() if role == NUMBER]
        roles = {column: role for column, role in chosen.items() if role not in (NUMBER, ABOVE)}
        return BroughtFile(
            name=name,
            kind=CSV,
            group=self.value(f"group-{place}"),
            key=keys[0] if len(keys) == 1 else "",
            columns=tuple(columns),
            roles=roles,
            below=self.value(f"below-{place}"),
            on=tuple(column for column, role in chosen.items() if role == ABOVE),
        )

    @property
    def parts(self) -> list[FileFields]:
        """Each file with its fields."""
        return [
            FileFields(
                place=place,
                name=one.name,
                kind=one.kind,
                is_json=_is_json(one.name),
                group=one.group,
                below=one.below,
                on=", ".join(one.on),
                columns=[
                    {
                        "name": column,
                        "field": f"role-{place}-{at}",
                        "role": self.value(f"role-{place}-{at}"),
                        "roles": OF_CSV if one.kind == CSV else (NO_ROLE, *ROLES),
                    }
                    for at, column in enumerate(one.columns or (STATEMENT if one.kind == XAPI else ()))
                ],
                error=self.errors.get(f"file-{place}", ""),
            )
            for place, one in enumerate(self.declared)
        ]

    def declaration(self) -> tuple[BroughtRecords, list[UploadedFile]] | None:
        for place, one in enumerate(self.declared):
            if one.kind not in (CSV, XAPI, RECORDS):
                self.errors[f"file-{place}"] = _("“%(file)s”: choose what it holds.") % {"file": one.name}
            elif problem := problem_of_file(one):
                self.errors.setdefault(f"file-{place}", problem)
        if not self.errors and (problem := problem_of_files(self.declared)):
            self.errors["header"] = problem
        sent = {str(file.name): file for file in self.uploaded}
        if sorted(sent) != sorted({one.name for one in self.declared}) or len(self.uploaded) != len(self.declared):
            self.errors["file"] = _("Choose all files again, in one go: as many as first lines.")
        if self.errors:
            return None
        return BroughtRecords(files=self.declared), [sent[one.name] for one in self.declared]


def _is_json(name: str) -> bool:
    return name.lower().endswith(".json")
