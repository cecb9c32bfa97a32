"""Questions of the library and their answers, in the reader's language."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypedDict

from django.utils.formats import number_format
from django.utils.translation import get_language, gettext_noop
from django.utils.translation import gettext as _

from analysis.learning.questions.columns import SCORE, labels, library_schema, value_labels
from analysis.ledger.questions import AnswerRow, AnswerTable
from analysis.sources.tables import Schema
from candor.queries.averaging import Mean, Sum
from candor.queries.classifying import NaiveBayes
from candor.queries.counting import Count, Histogram
from candor.queries.ordering import MostCommon, Quantile
from candor.queries.parts import Condition, Cut
from candor.queries.questions import NEIGHBOURS, Question
from candor.queries.shares import Recommendation, Share

FREE = gettext_noop("Exact: the die protects these answers.")
HONEST = gettext_noop("Among honest people; the intervals are for people like these.")
OPEN = gettext_noop("This die leaves open how large the share is in one arm; it tells the difference between arms.")
ASSUMPTION = gettext_noop("Assumption:")
LAPLACE, GAUSSIAN = gettext_noop("discrete Laplace"), gettext_noop("discrete Gaussian")
ONE_ROW = gettext_noop("one participant's whole row is replaced; the number of participants is public")
assert ONE_ROW == NEIGHBOURS  # the catalogue has the library's words


class FoundCell(TypedDict):
    """One number of an answer, with its interval."""

    labels: Sequence[str]
    value: float | None
    low: float | None
    high: float | None


class Found(TypedDict):
    """An answer as the ledger keeps it."""

    unit: str
    cells: Sequence[FoundCell]
    notes: Sequence[str]
    privacy: Mapping[str, object] | None


class Words:
    """The labels of a source, for people."""

    def __init__(self, schema: Schema, language: str | None = None) -> None:
        self.schema, self.language = schema, language or get_language() or "en"
        self.columns = library_schema(schema)
        self.labels = labels(schema, self.language) | {SCORE: _("Quiz items solved")}

    def quoted(self, column: str) -> str:
        return _("“%(label)s”") % {"label": self.labels.get(column, column)}

    def value(self, column: str, value: str) -> str:
        words = value_labels(self.schema, column, self.language) or {"no": _("no"), "yes": _("yes")}
        return words.get(value, value)

    def cells(self, cut: Cut) -> list[str]:
        """The cells of a cut in the order of the library; the last one is for those who gave nothing."""
        if cut.edges is None:
            found = [self.value(cut.column, value) for value in cut.labels(self.columns)[:-1]]
        else:
            found = [_between(ends) for ends in pairwise(cut.edges)]
        return [*found, _("not given")]

    def where(self, conditions: Sequence[Condition], otherwise: str) -> str:
        parts = [_("%(column)s is %(values)s") % {"column": self.quoted(one.column), "values": self._values(one)} for one in conditions]
        return _("whose %(conditions)s") % {"conditions": _(" and whose ").join(parts)} if parts else otherwise

    def sentence(self, asked: Question) -> str:
        """The question in words."""
        said = {"where": self.where(asked.where, _("everybody"))}
        match asked:
            case Count():
                return (
                    _("How many people there are %(where)s") if asked.entries is None else _("How many entries there are %(where)s")
                ) % said
            case Histogram():
                by = _("How many people there are by %(by)s, %(where)s")
                if asked.entries is not None:
                    by = _("How many entries there are by %(by)s, %(where)s")
                return by % {**said, "by": self._by(asked.by)}
            case Share():
                among = _("among those %(where)s") % said if asked.where else _("among all")
                return _("The share %(event)s, %(among)s") % {"event": self.where(asked.event, ""), "among": among}
            case Sum():
                return _("The sum of %(column)s, %(where)s") % {**said, "column": self.quoted(asked.column)}
            case Mean() if asked.by:
                return _("The mean of %(column)s by %(by)s, %(where)s") % {
                    **said,
                    "column": self.quoted(asked.column),
                    "by": self._by(asked.by),
                }
            case Mean():
                return _("The mean of %(column)s, %(where)s") % {**said, "column": self.quoted(asked.column)}
            case Quantile():
                return _("The value of %(column)s that %(percent)s %% of people lie below, %(where)s") % {
                    **said,
                    "column": self.quoted(asked.column),
                    "percent": number_format(f"{100 * asked.q:g}"),
                }
            case MostCommon():
                return _("The most common value of %(column)s among %(where)s") % {**said, "column": self.quoted(asked.column)}
            case Recommendation():
                return _("The share %(event)s, for each %(option)s and %(band)s, %(where)s") % {
                    **said,
                    "event": self.where(asked.success, ""),
                    "option": self.quoted(asked.option.column),
                    "band": self.quoted(asked.band.column),
                }
            case NaiveBayes():
                return _("A classifier of %(target)s from %(features)s, %(where)s") % {
                    **said,
                    "target": self.quoted(asked.target.column),
                    "features": ", ".join(self.quoted(cut.column) for cut in asked.features),
                }
        return str(asked.sentence())

    def table(self, asked: Question, answer: Found) -> AnswerTable:
        """The cells of an answer, with labels in place of names, and what to know about it."""
        cuts = _cuts(asked)
        if isinstance(asked, MostCommon):
            own = {value: self.value(asked.column, value) for value in (cell["labels"][0] for cell in answer["cells"])}
            heads: tuple[str, ...] = (self.labels.get(asked.column, asked.column),)
            words = [own]
        else:
            heads = tuple(self.labels.get(cut.column, cut.column) for cut in cuts)
            words = [dict(zip(cut.labels(self.columns), self.cells(cut), strict=True)) for cut in cuts]
        notes = (_(FREE),) if answer["privacy"] is None else self._notes(asked)
        return AnswerTable(heads=heads, rows=rows_of(answer, words), unit=answer["unit"], notes=notes)

    def _by(self, cuts: Sequence[Cut]) -> str:
        return _(" and ").join(self.quoted(cut.column) for cut in cuts)

    def _values(self, one: Condition) -> str:
        if one.values is None:
            return _between(one.between)
        return _(" or ").join(self.value(one.column, value) for value in one.values)

    def _notes(self, asked: Question) -> tuple[str, ...]:
        match asked:
            case Histogram():
                return (_("Each interval holds 95 times in 100, for its own cell."),)
            case Share() | Mean():
                return (_("The interval is Fieller’s. It is for these people, and includes the noise."),)
            case Recommendation():
                return (_("Each interval is Fieller’s and holds 95 times in 100, for its own cell."),)
            case Quantile():
                bins, low, high = asked.bins, asked.low, asked.high
                found = {"bins": bins, "low": number_format(f"{low:g}"), "high": number_format(f"{high:g}")}
                return (
                    _("Found among %(bins)s bins from %(low)s to %(high)s. The interval holds the noise and the width of the bins.")
                    % found,
                )
            case MostCommon():
                gap = number_format(round(asked.error(self.columns, 1)), force_grouping=True)  # of any number of people
                return (_("At most %(gap)s more have another value, 95 times in 100.") % {"gap": gap},)
            case NaiveBayes():
                return (_("The accuracy is that for rows which the tables have not seen."),)
        return ()


def rows_of(answer: Found, words: Sequence[Mapping[str, str]] = ()) -> tuple[AnswerRow, ...]:
    """The rows of an answer; `words` translate the labels of each column."""
    return tuple(
        AnswerRow(
            labels=tuple(word.get(label, label) for word, label in zip(words, cell["labels"], strict=False)),
            value=cell["value"],
            low=cell["low"],
            high=cell["high"],
        )
        for cell in answer["cells"]
    )


def _cuts(asked: Question) -> tuple[Cut, ...]:
    """The cuts whose cells are the labels of an answer's rows."""
    match asked:
        case Histogram() | Mean():
            return tuple(asked.by)
        case Recommendation():
            return (asked.option, asked.band)
    return ()


def _between(ends: tuple[float, float]) -> str:
    low, high = (number_format(f"{end:g}") for end in ends)
    return _("%(low)s to %(high)s") % {"low": low, "high": high}
