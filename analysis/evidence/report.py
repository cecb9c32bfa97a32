"""The findings of a run of `make prove`. A report that contradicts itself is refused: nobody can turn one word of it into success."""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from surveys.questions.mistakes import mistake_in_words

Text = Annotated[str, Field(min_length=1, max_length=2000)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class EvidenceError(ValueError):
    """A file that is no report of evidence; the message says what was expected and what came."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Check(_Part):
    """One test or one measurement. A control is something broken on purpose: it holds if the same check noticed that."""

    what: Text
    control: bool = False
    held: bool
    said: str = Field(default="", max_length=2000)


class Table(_Part):
    """Numbers that were found, as text."""

    caption: Text
    columns: list[Text]
    rows: list[list[str]]

    @model_validator(mode="after")
    def _is_rectangular(self) -> Self:
        if wrong := next((row for row in self.rows if len(row) != len(self.columns)), None):
            raise ValueError(f"a row of a table has {len(self.columns)} cells; one has {len(wrong)}")
        return self


class Proof(_Part):
    """A promise, and all that was done to find it broken."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z-]*$")]
    title: Text
    promise: Text
    ran: Text
    seeds: Text
    checks: list[Check]
    tables: list[Table] = []
    cpu_seconds: Seconds
    held: bool

    @model_validator(mode="after")
    def _is_what_its_checks_say(self) -> Self:
        if self.held != (bool(self.claims) and bool(self.controls) and all(one.held for one in self.checks)):
            raise ValueError(
                f"a proof holds if at least one check and one control were run and all of them held; {self.name!r} says {self.held}"
            )
        return self

    @property
    def claims(self) -> list[Check]:
        return [one for one in self.checks if not one.control]

    @property
    def controls(self) -> list[Check]:
        return [one for one in self.checks if one.control]

    @property
    def failed(self) -> list[Check]:
        return [one for one in self.checks if not one.held]

    @property
    def missing(self) -> str:
        """The kind of check that was not run at all, although a proof needs it."""
        return "" if self.claims and self.controls else "control" if self.claims else "check"


class Machine(_Part):
    """Where it ran, without names of people, machines or folders."""

    system: Text
    processor: Text
    processors: Annotated[int, Field(ge=1)]
    memory_gib: Seconds
    python: Text


class Report(_Part):
    """All proofs of one run, in the order in which a reader meets them."""

    format: Literal["candor-evidence-1"] = "candor-evidence-1"
    began: Annotated[datetime, Field(strict=False)]
    ended: Annotated[datetime, Field(strict=False)]
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None
    changed_since_commit: bool
    software: dict[str, str]
    size: Literal["full", "quick"]
    left_out: list[Text]
    machine: Machine
    proofs: Annotated[list[Proof], Field(min_length=1)]
    held: bool

    @model_validator(mode="after")
    def _is_what_its_proofs_say(self) -> Self:
        if self.held != all(one.held for one in self.proofs):
            raise ValueError(f"a report holds if all of its proofs do; this one says {self.held}")
        if self.ended < self.began:
            raise ValueError(f"a run ends after it began; this one began {self.began} and ended {self.ended}")
        if len({one.name for one in self.proofs}) < len(self.proofs):
            raise ValueError("each proof stands in a report once")
        return self

    @property
    def cpu_seconds(self) -> float:
        return sum(one.cpu_seconds for one in self.proofs)

    @property
    def failed(self) -> list[Proof]:
        return [one for one in self.proofs if not one.held]


def read_report(content: bytes) -> Report:
    """A report from its JSON. EvidenceError: it is none, or it contradicts itself."""
    try:
        return Report.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise EvidenceError(f"expected a report of `make prove`; {place}: {mistake_in_words(first)}") from error


def written(report: Report) -> bytes:
    return (report.model_dump_json(indent=2) + "\n").encode()
