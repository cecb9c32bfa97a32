"""The effects by subgroup as the live page shows them: numbers, words and a forest plot for each question and background question."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from analysis.figures.intervals import subgroups_figure
from analysis.figures.shown import Draw
from analysis.live.blinding import ArmNames
from analysis.live.wording import contrast_in_words
from analysis.stored_results import Results, Subgroups
from candor.categories.results import AT_LEAST, MEAN_SCORE
from candor.figures.drawing import Drawing
from candor.figures.forest import Ends, ForestRow
from candor.results import Interval
from candor.subgroups.results import EFFECT, InteractionTest, SubgroupAnalysis, SubgroupEffect
from candor.subgroups.texts import by_number
from surveys.definition import StudyDefinition
from surveys.questions.background import OrdinalScale, SingleChoice

LEVEL = 0.05
Row = Sequence[object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSubgroups:
    """One question by the answers to one background question. `rows` are each with the names of group and contrast."""

    text: str
    figure: str
    rows: tuple[tuple[str, str, SubgroupEffect], ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubgroupView:
    """The planned comparisons of a study, for one reader. `results` are the full ones, None before there are any."""

    results: Results | None
    definition: StudyDefinition
    names: ArmNames
    language: str

    @property
    def found(self) -> Subgroups | None:
        return self.results.subgroups if self.results else None

    def of(self, question: str) -> tuple[ShownSubgroups, ...]:
        """The comparisons of one sensitive question."""
        return tuple(self._shown(question, one) for one in self._analyses(question))

    def figures(self, question: str) -> dict[str, Draw]:
        """The forest plots of one question by their names."""
        return {one.figure: partial(_figure, one) for one in self.of(question)}

    @property
    def notes(self) -> tuple[str, ...]:
        """Why something that was planned is not shown, one sentence for each reason."""
        found = self.found
        if found is None:
            return ()
        if found.withdrawn:
            return (
                _(
                    "Somebody took their data out after the end, or a back-up was restored that did not know somebody. So the planned "
                    "comparison of subgroups is deleted and not computed again: the difference would tell what this person reported."
                ),
            )
        if not found.ended:
            return (
                _(
                    "The planned comparison of subgroups is computed once, when the study is closed. Before that, numbers of a subgroup "
                    "would change from person to person."
                ),
            )
        without = [self._asked(name) for name in self.definition.subgroups if self._is_left_out(name)]
        several = _("Not shown by “%(question)s”, because its groups are too small, or nearly the groups of another question.")
        return tuple(several % {"question": one.text.in_language(self.language)} for one in without)

    def table(self) -> Iterator[Row]:
        """Every group, and every test, one to a line."""
        files = self.names.files
        head = ("question", "subgroup", "group", "n", "quantity", "arm", "against", "estimate", "standard_error", "low", "high")
        yield (*head, "statistic", "p_value", "holm_p_value", "planned", "for_publication", "category")
        for question in self.definition.questions:
            for one in self._analyses(question.name):
                for row in one.effects:
                    effect, delta = row.effect, row.effect.honest_times_effect
                    start = (question.name, one.variable, row.group, row.n)
                    arms, tested = (files[effect.treatment], files[effect.control]), (None, effect.p_value, row.adjusted_p_value)
                    answer, of = (row.category or "", f"_on_{row.measure}") if row.measure else ("", "")
                    marks = (one.planned, False, answer)
                    yield (*start, f"effect{of}", *arms, effect.value, effect.standard_error, *_ends(effect.interval), *tested, *marks)
                    yield (*start, f"honest_times_effect{of}", *arms, delta.value, delta.standard_error, *_ends(row.alone), *tested, *marks)
                    shrunken = (row.shrunken_value, None, *_ends(row.shrunken), None, None, None)
                    yield (*start, f"shrunken_honest_times_effect{of}", *arms, *shrunken, *marks)
                for test in one.interaction:
                    arms, numbers = (
                        (files[test.treatment], files[test.control]),
                        (None, None, None, None, test.statistic, test.p_value, None),
                    )
                    yield (question.name, one.variable, "all", None, f"same_{test.of}", *arms, *numbers, one.planned, False, "")

    def _analyses(self, question: str) -> tuple[SubgroupAnalysis, ...]:
        return tuple(one for one in self.found.outcomes if one.question == question) if self.found else ()

    def _asked(self, name: str) -> SingleChoice | OrdinalScale:
        return self.definition.possible_subgroups[name]

    def _is_left_out(self, name: str) -> bool:
        asked = [question.name for question in self.definition.questions if not question.is_background]
        return any(name not in {one.variable for one in self._analyses(question)} for question in asked)

    def _shown(self, question: str, one: SubgroupAnalysis) -> ShownSubgroups:
        asked, arms = self._asked(one.variable), self.names.shown
        options = {option.name: option.text.in_language(self.language) for option in asked.options}
        (sensitive,) = (one for one in self.definition.questions if one.name == question)
        answers = {category.name: category.text.in_language(self.language) for category in sensitive.categories}
        return ShownSubgroups(
            text=asked.text.in_language(self.language),
            figure=f"subgroups-{question}-{one.variable}",
            rows=tuple((options[row.group], _compared(row, arms, answers), row) for row in by_number(one)),
            sentences=tuple(_sentence(test, arms=arms, named=bool(answers)) for test in one.interaction),
        )


def _figure(shown: ShownSubgroups, *, narrow: bool = False) -> Drawing:
    """Each group alone, and below it, dotted, the group when it learns from the others."""
    several = len({contrast for _group, contrast, _row in shown.rows}) > 1
    rows = [
        ForestRow.of(
            row.effect.honest_times_effect.value,
            _ends(row.alone),
            label=f"{group}: {contrast}" if several else group,
            second=_ends(row.shrunken) if row.shrunken else None,
            n=row.n,
        )
        for group, contrast, row in shown.rows
        if row.measure != MEAN_SCORE  # which has a scale of its own
    ]
    named = any(row.measure for _group, _contrast, row in shown.rows)
    return subgroups_figure(rows, title=shown.text, named=named, narrow=narrow)


def _compared(row: SubgroupEffect, arms: Mapping[str, str], answers: Mapping[str, str]) -> str:
    """The contrast, and of named answers the number of them that it is about."""
    contrast = contrast_in_words(arms[row.effect.treatment], arms[row.effect.control])
    if row.measure is None:
        return contrast
    words = _("“%(answer)s” or above") if row.measure == AT_LEAST else _("“%(answer)s”")
    number = words % {"answer": answers[row.category]} if row.category else _("mean score")
    return f"{number}: {contrast}" if len(arms) > 2 else number


def _sentence(test: InteractionTest, *, arms: Mapping[str, str], named: bool = False) -> str:
    differs = test.p_value < LEVEL
    if named and test.of == EFFECT:
        what = (
            _("The groups differ in the effect on some answer")
            if differs
            else _("It cannot be told whether the groups differ in the effect on any answer")
        )
    elif named and differs:
        what = _("The groups differ in the honest share times the effect on some answer: in an effect, or in the share who follow the die")
    elif named:
        what = _("It cannot be told whether the groups differ in the honest share times the effect on any answer")
    elif test.of == EFFECT:
        what = _("The groups differ in the effect") if differs else _("It cannot be told whether the groups differ in the effect")
    elif differs:
        what = _("The groups differ in the honest share times the effect: in the effect, or in the share who follow the die")
    else:
        what = _("It cannot be told whether the groups differ in the honest share times the effect")
    statistic, p_value = number_format(f"{test.statistic:.2f}"), number_format(f"{test.p_value:.2g}")
    numbers = f"χ² = {statistic}, df = {test.df}, p = {p_value}"
    sentence = f"{what} ({numbers})."
    return f"{contrast_in_words(arms[test.treatment], arms[test.control])}: {sentence}" if len(arms) > 2 else sentence


def _ends(interval: Interval | None) -> Ends:
    return (None, None) if interval is None or interval.kind == "empty" else (interval.low, interval.high)
