"""The desk before a question is asked, and the answers that were given."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from analysis.learning.questions.columns import library_schema
from analysis.learning.questions.kinds import TABLES, Statistic, TrueYes
from analysis.ledger.accounts import Account, account_of
from analysis.ledger.errors import LibraryError, QuestionError
from analysis.ledger.page import cost_in_words
from analysis.ledger.questions import AnswerTable, read_question
from analysis.ledger.selectors import Asked, Preview, budget_of, newest_first, preview, table_now
from analysis.models import Source
from analysis.sources.selectors import schema_of_snapshot
from candor import errors
from candor.queries import kinds as library
from candor.queries.exactness import Spending, share_of_budget
from candor.queries.ordering import Quantile
from candor.queries.questions import Question, epsilon_for
from surveys.models import Study
from surveys.protocols import protocol_in_force

KINDS = (Statistic.model_fields["kind"].default, TrueYes.model_fields["kind"].default)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A question before it is asked. `error`: ± with 95 %; a free one has none, and no noise."""

    preview: Preview
    document: dict[str, object]
    sentence: str
    free: bool
    noise: str
    error: float | None
    error_in: str
    of_value: tuple[float, float] | None
    """± of a quantile’s value if values were spread evenly, and the width of a bin."""
    mostly_noise: bool

    @property
    def is_public(self) -> bool:
        """Whether students can use the answer, so that it is public at once."""
        return self.document["kind"] in TABLES


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A question that was asked, and its answer as a table."""

    asked: Asked
    sentence: str
    cost: str
    table: AnswerTable

    @property
    def document(self) -> object:
        """The question as the desk was asked it."""
        whole = self.asked.charge.document
        return whole.get("question", whole)


def with_spending(document: Mapping[str, object], source: Source, *, error: float | None, questions: int | None) -> dict[str, object]:
    """The document with its ε or ρ: as it says, or as a wanted error or an announced number of questions asks for."""
    if error is None and questions is None:
        return dict(document)
    _snapshot, schema, n = table_now(source)
    columns = library_schema(schema)
    with refusing():
        asked = library.read_question({name: value for name, value in document.items() if name != "rho"} | {"epsilon": 1.0})
        asked.check(columns)
        if error is not None:
            found = epsilon_for(asked, error, columns, n)
            if found is None:
                raise QuestionError(
                    _("Expected an error that ε = 10 can reach, found ± %(error)s.") % {"error": number_format(f"{error:g}")}
                )
            spending = Spending(epsilon=found)
        else:
            spending = _share(asked, account_of(budget_of(source)), questions or 1)
        return replace(asked, spending=spending).document()


def true_yes(study: Study, answer: str) -> dict[str, object]:
    """The free question about the die's inversion, with the die of the protocol. Its intervals take people for independent."""
    definition = protocol_in_force(study).definition
    if definition.in_sections:
        raise QuestionError(
            _("Sections were assigned as a whole. The results of the study know how alike people of a section are; this question does not.")
        )
    asked = [question for question in definition.questions if f"answer.{question.name}" == answer]
    design = definition.design_of(asked[0]) if asked else definition.design()
    return {"kind": KINDS[1], "answer": answer, "design": design.to_document()}


def offer(source: Source, document: Mapping[str, object]) -> Offer:
    """Cost, error and what is left. Nothing is spent. Raises QuestionError and LedgerError."""
    shown = preview(source, {"kind": KINDS[0], "question": dict(document)})
    question = shown.question
    assert isinstance(question, Statistic)
    _snapshot, schema, n = table_now(source)
    asked, columns = question.asked, library_schema(schema)
    free = question.is_free(schema)
    return Offer(
        preview=shown,
        document=asked.document(),
        sentence=question.sentence(schema),
        free=free,
        noise="" if free else asked.spending.noise,
        error=None if free else asked.error(columns, n),
        error_in=_unit(asked),
        of_value=(asked.error_of_value(columns, n), asked.step) if isinstance(asked, Quantile) and not free else None,
        mostly_noise=not free and asked.is_mostly_noise(columns, n),
    )


def lines(source: Source) -> list[Line]:
    """The questions of the desk that were asked, the newest first."""
    return [line_of(source, asked) for asked in newest_first(source, *KINDS)]


@contextmanager
def refusing() -> Iterator[None]:
    """The desk refuses in the library's words."""
    try:
        yield
    except errors.QuestionError as error:
        raise LibraryError(str(error)) from None


def _share(asked: Question, account: Account, questions: int) -> Spending:
    share = account.share(questions).loss
    if not (share.rho or share.pure_epsilon):
        raise QuestionError(_("Nothing is left of the budget."))
    rho = 0.0 if asked.pure_only else share.rho
    return share_of_budget(asked.sensitivity, epsilon=share.pure_epsilon or 0.0, rho=rho, questions=1)


def _unit(asked: Question) -> str:
    return {"share": "share", "recommendation": "share", "naive_bayes": "share", "quantile": "rank", "mean": "number", "sum": "number"}.get(
        asked.kind, asked.unit
    )


def line_of(source: Source, asked: Asked) -> Line:
    schema = schema_of_snapshot(source, asked.charge.snapshot)
    question = read_question(asked.charge.document)
    table = question.table(asked.answer, schema) if asked.answer else AnswerTable()
    return Line(asked=asked, sentence=question.sentence(schema), cost=cost_in_words(asked.loss), table=table)
