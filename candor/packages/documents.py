"""The documents of a data package, as far as this library reads them. Those of records alone name no design and no question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NotRequired, TypedDict

if TYPE_CHECKING:
    from candor.equivalence.margins import Worse


class AskedQuestion(TypedDict):
    """A question, and the column of data.csv that holds its answers."""

    name: str
    text: str
    column: str


class Allocation(TypedDict):
    """How people came to arms and subsamples."""

    unit: NotRequired[str]
    planned_with_die: int


class NamedMargin(TypedDict):
    """A margin, in percentage points."""

    points: float
    worse: Worse


class NamedAnalysis(TypedDict):
    """The analysis that was named before the data."""

    families: Mapping[str, Sequence[str]]
    margins: Mapping[str, NamedMargin]


class PromisedRecords(TypedDict):
    """The promises about protected records."""

    k: int
    l: Mapping[str, int]  # noqa: E741  # as it stands in the file
    suppressed: int
    auxiliary: NotRequired[Sequence[str]]
    as_labels: NotRequired[Sequence[str]]
    anatomy: NotRequired[bool]


class CategoryQuestion(TypedDict):
    """A question with two to six answers; its design is its own. `purpose` is "background" if it is about people, whom no arm changes."""

    name: str
    text: str
    column: str
    categories: Sequence[Mapping[str, str]]
    design: Mapping[str, Mapping[str, Mapping[str, object]]]
    purpose: NotRequired[str]


class ProtocolFile(TypedDict, total=False):
    """protocol.json. Older packages have `family` and `questions_asked` in place of `analysis`."""

    study: str
    design: Mapping[str, Mapping[str, object]]
    questions: Sequence[AskedQuestion]
    category_questions: Sequence[CategoryQuestion]
    allocation: Allocation
    analysis: NamedAnalysis
    family: str
    questions_asked: int
    records: PromisedRecords


class Bootstrap(TypedDict):
    """The inputs of the resampling."""

    replicates: int
    seed: int


class NamedTests(TypedDict, total=False):
    """The tests that the protocol names, where it names some."""

    planned_tests: Mapping[str, object]


class NamedCategories(TypedDict, total=False):
    """The questions with two to six answers, where there are some."""

    categories: Mapping[str, Mapping[str, object]]


class Results(NamedTests, NamedCategories):
    """The part of results.json that follows from data.csv and protocol.json."""

    n: int
    outcomes: Mapping[str, Mapping[str, object]]


class Published(Results):
    """results.json."""

    level: float
    bootstrap: Bootstrap
    records: NotRequired[Mapping[str, object]]
    software: NotRequired[Mapping[str, str]]
