"""The content of a package as plain values; all files are written from it alone."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import fsum
from typing import Any

from analysis.packages.background_counts import Cell
from analysis.packages.licences import Licence
from analysis.packages.rows import CLUSTER, Row, column_of
from candor.designs.design import Design
from candor.packages.documents import CategoryQuestion
from candor.packages.preregistrations import plan_file
from candor.records.schema import Record
from candor.sentences import Sentence
from candor.sentences import sentence as _
from surveys.preregistration.selectors import KeptPlan
from surveys.questions.publication import Publication

PRIVATISED = "Background question, privatised in the browser"
SIMULATED_DATA = "simulated data"
LONGEST_TITLE = 200


def simulated_title(title: str) -> str:
    """The title, with a word that no reader of a list or a citation can miss."""
    mark = f" ({SIMULATED_DATA})"
    return f"{title.removesuffix(mark)[: LONGEST_TITLE - len(mark)]}{mark}"


def simulated_terms(licence: Licence) -> str:
    """The licence, and what it covers where that is nobody's answers."""
    return f"{licence.title}, for {SIMULATED_DATA}: nobody's answers"


def cited(authors: Sequence[str], year: int, title: str, address: str, *, doi: str) -> str:
    """The citation. The address stands behind a DOI, too: it is there before the DOI is registered."""
    places = [*([f"https://doi.org/{doi}"] if doi else []), address]
    return f"{'; '.join(authors)} ({year}). {title} [Data set]. {' '.join(places)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocationList:
    """One concealed list: the hash that was published when it was drawn, and its exact text."""

    number: int
    sha256: str
    document: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedRecords:
    """Background answers as records; `loss` against the answers themselves, which nobody else can compute."""

    records: Sequence[Record]
    suppressed: int
    loss: Mapping[str, object]
    hierarchies: Mapping[str, Mapping[str, Sequence[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Described(ABC):
    """A package as catalogues describe it."""

    slug: str
    version: int
    title: str
    publication: Publication
    """Authors, funding, keywords, contact and dates: the one object from which all files have them."""
    year: int
    licence: Licence
    site: str
    simulated: bool
    doi: str = ""
    """The DOI that was reserved before the files were signed."""

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def address(self) -> str:
        """The permanent address."""

    @property
    @abstractmethod
    def citation(self) -> str: ...

    @property
    @abstractmethod
    def keywords(self) -> list[str]: ...

    @property
    @abstractmethod
    def abstract(self) -> Sentence:
        """One paragraph for catalogues."""

    @property
    def description(self) -> str:
        return str(self.abstract)

    @property
    def key_address(self) -> str:
        return f"{self.site}/data/signing-key.pem"

    @property
    def terms(self) -> str:
        return simulated_terms(self.licence) if self.simulated else self.licence.title


@dataclass(frozen=True, slots=True, kw_only=True)
class Content(Described):
    protocol: Mapping[str, Any]
    """The document that stands in protocol.json."""
    study_file: str
    """The text of study.yaml."""
    data_csv: str
    rows: Sequence[Row]
    bots_left_out: int
    epsilon: float
    """Privacy loss of one answer to a yes/no question."""
    background: Sequence[Cell] | None
    """None: left out."""
    analytics: Mapping[str, Any] | None
    """The ledger of the privacy budget with all answers; None: left out."""
    reason_for_exact_counts: str
    """Why the counts are exact although the study has a privacy budget; empty where that needs no reason."""
    smallest_count: int
    allocation_lists: Sequence[AllocationList]
    results: Mapping[str, Any]
    plans: Sequence[KeptPlan] = ()
    """The preregistration and its amendments."""
    records: ProtectedRecords | None = None
    """Background answers as protected records; None: they are not in it so."""
    doi_missing_from: str = ""
    """The service that could not be reached when a DOI was asked of it."""

    @property
    def plan_files(self) -> dict[str, str]:
        """Their texts by the names of the files."""
        return {plan_file(plan.version): plan.text for plan in self.plans}

    @property
    def in_sections(self) -> bool:
        """Whether sections were assigned as a whole."""
        return bool(self.protocol["allocation"]["unit"] == "cluster")

    @property
    def address(self) -> str:
        return f"{self.site}/data/{self.slug}/{self.version}/"

    @property
    def name(self) -> str:
        return f"{self.slug}-{self.version}"

    @property
    def citation(self) -> str:
        return cited(self.publication.authors, self.year, f"{self.title} (version {self.version})", self.address, doi=self.doi)

    @property
    def keywords(self) -> list[str]:
        kind = "survey" if self.is_survey else "randomised experiment"
        usual = [*([SIMULATED_DATA] if self.simulated else []), kind, "randomised response", "local differential privacy"]
        return list(dict.fromkeys([*usual, *self.publication.keywords]))

    @property
    def is_survey(self) -> bool:
        """Whether there was one arm."""
        return len(self.protocol["design"]["arms"]) == 1

    @property
    def about_the_honest(self) -> str:
        """How x is found, the share of people who follow the die, or that the number which was wanted stays between bounds."""
        design = Design.from_document(self.protocol["design"])
        known, wanted = design.identification, "the true share of yes" if self.is_survey else "the effect"
        if not (known.prevalence if self.is_survey else known.effect):
            return f"This design leaves {wanted} between bounds, however many people take part: results.json has them."
        if design.cheater_model.yes_rate is not None:
            return "The reports tell x under the assumption that the protocol states about how the others answer."
        return "The difference between the subsamples, whose dice force yes with different probabilities, tells x."

    @property
    def questions(self) -> Sequence[Mapping[str, str]]:
        found: Sequence[Mapping[str, str]] = self.protocol["questions"]
        return found

    @property
    def category_questions(self) -> Sequence[CategoryQuestion]:
        """The questions whose answers are named categories."""
        found: Sequence[CategoryQuestion] = self.protocol.get("category_questions", ())
        return found

    @property
    def privatised_background(self) -> Sequence[CategoryQuestion]:
        """Those of them that are about people, whom no arm changes."""
        return [question for question in self.category_questions if question.get("purpose") == "background"]

    @property
    def estimates(self) -> Mapping[str, Mapping[str, object]]:
        """The estimates in results.json, by question."""
        return {**self.results["outcomes"], **self.results.get("categories", {})}

    @property
    def epsilons(self) -> list[float]:
        """The privacy loss of the answer to each question."""
        return [self.epsilon] * len(self.questions) + [Design.from_document(one["design"]).epsilon for one in self.category_questions]

    @property
    def epsilon_total(self) -> float:
        if not self.category_questions:
            return self.epsilon * len(self.questions)
        return fsum(self.epsilons)

    @property
    def design_files(self) -> dict[str, Mapping[str, object]]:
        """The designs as the command line reads them, by the names of their files: each question with categories has its own."""
        designs = {"design.json": self.protocol["design"]} if self.questions else {}
        return designs | {f"design-{one['name']}.json": one["design"] for one in self.category_questions}

    @property
    def unit(self) -> str:
        """The kind of participant behind a row."""
        return "bot" if self.simulated else "person"

    @property
    def abstract(self) -> Sentence:
        arms, n, private = len(self.protocol["design"]["arms"]), len(self.questions), len(self.privatised_background)
        named = len(self.category_questions) - private
        asked = [_("1 sensitive yes/no question") if n == 1 else _("%(n)s sensitive yes/no questions", n=n)] if n else []
        if named:
            one = named == 1
            asked.append(
                _("1 sensitive question with named answers") if one else _("%(n)s sensitive questions with named answers", n=named)
            )
        if private:
            asked.append(
                _("1 background question that was privatised in the browser")
                if private == 1
                else _("%(n)s background questions that were privatised in the browser", n=private)
            )
        questions = reduce(lambda some, others: _("%(some)s and %(others)s", some=some, others=others), asked)
        return _(
            "%(answers)s in a %(design)s. Each answer was given after a private die that sometimes says what to answer, so no row tells "
            "what is true of its person; the probabilities are in protocol.json. %(rows)s rows, one for each %(unit)s.",
            answers=_("Simulated answers of bots, not of people, to %(questions)s", questions=questions)
            if self.simulated
            else _("Answers to %(questions)s", questions=questions),
            design=_("survey") if self.is_survey else _("randomised experiment with %(arms)s arms", arms=arms),
            rows=len(self.rows),
            unit=_(self.unit),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of data.csv: its name, its meaning, and the labels of its values."""

    name: str
    label: str
    values: Mapping[str, str]
    is_answer: bool = False
    is_number: bool = False
    """Whether its values are whole numbers, as those of yes/no questions are."""


def columns_of(content: Content) -> list[Column]:
    """The columns of data.csv, in order: the one description from which all code books are written."""
    design = content.protocol["design"]
    arms = {arm["name"]: arm["label"] for arm in content.protocol["arms"]}
    subsamples = {name: "; ".join(_forced(content, name)) for name in design["subsamples"]}
    numbers = sorted({row.cluster for row in content.rows if row.cluster}, key=int)
    told = dict.fromkeys(numbers, "one section; the number was drawn at random")
    clusters = [Column(name=CLUSTER, label="Section that was assigned to the arm as a whole", values=told)] if told else []
    answers = [
        Column(
            name=column_of(question["name"]),
            label=question["text"],
            values={"0": f"reported {question['no']}", "1": f"reported {question['yes']}"},
            is_answer=True,
            is_number=True,
        )
        for question in content.questions
    ]
    answers += [
        Column(
            name=column_of(question["name"]),
            label=f"{PRIVATISED}: {question['text']}" if question in content.privatised_background else question["text"],
            values={one["name"]: f"reported {one['text']}" for one in question["categories"]},
            is_answer=True,
        )
        for question in content.category_questions
    ]
    header = content.data_csv.split("\n", 1)[0].split(",")
    answers.sort(key=lambda column: header.index(column.name))
    return [
        Column(
            name="arm",
            label="The group, of which there is one" if content.is_survey else "Arm to which the person was randomised",
            values=arms,
        ),
        Column(name="subsample", label="Subsample to which the person was randomised; it decides what the die forces", values=subsamples),
        *clusters,
        *answers,
    ]


def _forced(content: Content, subsample: str) -> Iterator[str]:
    """The forced answers of a subsample: for all yes/no questions alike, and for each question with categories."""
    if content.questions:
        forced = content.protocol["design"]["subsamples"][subsample]
        yield f"the die forces yes with probability {forced['forced_yes']} and no with probability {forced['forced_no']}"
    for question in content.category_questions:
        forced = question["design"]["subsamples"][subsample]
        yield f"for {question['name']} it forces {', '.join(f'{answer} with probability {share}' for answer, share in forced.items())}"
