"""The columns that hold the sensitive answers: those that were named, or those that hold nothing else. Every other one has its reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from candor.designs.forced_responses import YES_NO
from candor.designs.sources import ALONE, Beside
from candor.errors import DataError
from candor.studies.written_values import AnswerWords, answer_words, is_missing

ASSIGNMENT = ("arm", "subsample")
EXAMPLES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChoice:
    """The columns that are analysed as sensitive answers.

    Attributes
    ----------
    outcomes : tuple of str
        In the order of the data, or as they were named.
    left_aside : mapping of str to str
        Only when nobody named the outcomes: every other column, with the reason.
    named : bool
        Whether somebody named the outcomes.
    """

    outcomes: tuple[str, ...]
    left_aside: Mapping[str, str]
    named: bool

    def sentences(self) -> tuple[str, ...]:
        """The columns that were taken, and why; nothing when the outcomes were named."""
        if self.named:
            return ()
        taken = f"No outcome was named. Analysed as sensitive, because they hold yes/no answers: {', '.join(self.outcomes)}."
        advice = "A background question with two answers is among them unless you name the outcomes, or make it a covariate."
        return (taken, *self.about_the_others(), advice)

    def about_the_others(self) -> tuple[str, ...]:
        """The columns that were left aside, and why."""
        aside = "; ".join(f"{name or 'a column without a name'}: {reason}" for name, reason in self.left_aside.items())
        return (f"Left aside: {aside}.",) if aside else ()


def chosen_columns(
    names: Sequence[str],
    *,
    outcomes: Sequence[str],
    covariates: Sequence[str],
    values_of: Callable[[str], Sequence[str]],
    have: str,
    categories: tuple[str, ...] = YES_NO,
    beside: Beside = ALONE,
) -> ColumnChoice:
    """The columns of outcomes: the requested ones, or every other column that holds answers.

    Parameters
    ----------
    names : sequence of str
        All columns.
    outcomes, covariates : sequence of str
        Those that were named.
    values_of : callable
        Gives the texts of a column, or of its beginning.
    have : str
        Says where the names stand, such as ``"row 1 has"``.
    categories : tuple of str
        The answers.
    beside : Beside
        Designs that other columns have.

    Raises
    ------
    DataError
        When a column is not there, would be two things at once, or is an outcome of another design.
    """
    there, words = ", ".join(names) or "none", answer_words(categories)
    for name in (*ASSIGNMENT, *outcomes, *covariates):
        if name not in names:
            raise DataError(f"there is no column {name!r}; {have} {there}")
    for name in (*outcomes, *covariates):
        if name in ASSIGNMENT or name in set(outcomes) & set(covariates):
            raise DataError(f"column {name!r} cannot be {'an outcome or covariate' if name in ASSIGNMENT else 'both'}")
    for name in outcomes:
        if (why := beside.why_not(name, among=names)) is not None:
            raise DataError(f"column {name!r} {why}")
    if outcomes:
        return ColumnChoice(outcomes=tuple(dict.fromkeys(outcomes)), left_aside={}, named=True)
    others = [name for name in names if name not in (*ASSIGNMENT, *covariates)]
    reasons = {name: _why_no_answers(values_of(name), words) if name else "a sensitive question has a name" for name in others}
    reasons |= {name: why for name in others if (why := beside.why_not(name, among=names)) is not None}
    chosen = tuple(name for name, reason in reasons.items() if reason is None)
    if not chosen:
        raise DataError(f"no column holds answers {words.together}; {have} {there}")
    return ColumnChoice(outcomes=chosen, left_aside={name: reason for name, reason in reasons.items() if reason is not None}, named=False)


def _why_no_answers(texts: Sequence[str], words: AnswerWords) -> str | None:
    """None for a column of answers. A few values that are none are refused, not overlooked, as long as somebody
    gave the first answer.
    """
    written = [text for text in texts if not is_missing(text)]
    if not written:
        return "holds nothing" if texts else "has no rows"
    others = [text for text in written if words.code(text) is None]
    if not others or (2 * len(others) <= len(written) and any(words.code(text) == 0 for text in written)):
        return None
    some = [repr(text) for text in dict.fromkeys(others)]
    shown = f"{', '.join(some[:EXAMPLES])}{'…' if len(some) > EXAMPLES else ''}"
    return f"holds {shown}, which {'is' if len(some) == 1 else 'are'} not {words.one_of}"
