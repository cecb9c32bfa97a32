"""The tables of the live page, by the names in their addresses, their heads first. Names of the study file, not texts of a language."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from analysis.figures.intervals import ends_of
from analysis.live.matrix import matrix_rows
from analysis.live.page import LiveView
from analysis.live.progress import DayCount, Flow
from analysis.live.wording import beside
from candor.categories.results import AdjustedCategories, CategoryOutcome
from candor.figures.forest import Ends
from candor.results import EFFICIENT, EFFICIENT_WITH_COVARIATES, Interval

Row = Sequence[object]
NO_ENDS: Ends = (None, None)


def tables_of(live: LiveView) -> dict[str, Callable[[], Iterator[Row]]]:
    """Every table by its name."""
    progress = live.progress
    if progress is None:
        return {}
    return {
        "participants": lambda: _participants(live, progress.flow),
        "enrolment": lambda: _enrolment(progress.days),
        "balance": partial(_balance, live),
        "matrix": partial(_matrix, live),
        "sequences": partial(_sequences, live),
        "estimates": partial(_estimates, live),
        "running": partial(_running, live),
        **({"categories": partial(_categories, live)} if live.definition.category_questions else {}),
        **({"direct": partial(_direct, live)} if live.direct_group else {}),
        **({"planned-tests": live.planned_tests.table} if live.planned_tests else {}),
        **({"subgroups": live.subgroups.table} if live.definition.subgroups else {}),
    }


def _participants(live: LiveView, flow: Flow) -> Iterator[Row]:
    files = {shown: live.names.groups_in_files[arm] for arm, shown in live.names.groups.items()}
    yield ("subsample", "arm", "consented", "declined", "assigned", "saw_the_lecture", "answered", "withdrew")
    watched = sum(group.watched for group in flow.groups)
    yield ("all", "all", flow.consented, flow.declined, flow.assigned, watched, flow.finished, flow.withdrew)
    for group in flow.groups:
        yield (group.subsample, files[group.arm], "", "", group.assigned, group.watched, group.finished, "")


def _enrolment(days: Iterable[DayCount]) -> Iterator[Row]:
    yield ("day", "consented", "answered", "consented_so_far", "answered_so_far")
    for day in days:
        yield (day.day.isoformat(), day.consented, day.finished, day.consented_so_far, day.finished_so_far)


def _balance(live: LiveView) -> Iterator[Row]:
    yield ("arm", "against", "variable", "mean", "mean_against", "standardised_difference", "for_publication")
    for row in live.balance:
        arms = live.names.files[row.treatment], live.names.files[row.control]
        yield (*arms, row.variable, row.treatment_mean, row.control_mean, row.difference, False)


def _matrix(live: LiveView) -> Iterator[Row]:
    """The first table of the page, with one number to a line."""
    yield ("question", "n", "planned", "quantity", "arm", "against", "estimate", "low", "high", "verdict")
    for row in (one.called(live.names) for one in matrix_rows(live)):
        start = (row.question, row.n, row.planned)
        if (cheaters := row.cheater_proportion) is not None:
            yield (*start, "cheater_proportion", "", "", cheaters.value, cheaters.low, cheaters.high, "")
        for cell in row.effects:
            names = cell.treatment, cell.control
            if cell.p_value is not None:
                yield (*start, "no_effect_p_value", *names, cell.p_value, None, None, cell.verdict)
                continue
            yield (*start, "effect", *names, cell.value, cell.low, cell.high, cell.verdict)
        for share in row.prevalence:
            yield (*start, "prevalence", share.arm, "", share.value, share.low, share.high, "")


def _sequences(live: LiveView) -> Iterator[Row]:
    """All that holds at every look. `certain_direction` is the test's alone, `said_direction` what pages say."""
    head = ("question", "n", "quantity", "method", "arm", "against", "estimate", "low", "high", "certain_direction")
    yield (*head, "log_e_more", "log_e_fewer", "for_publication", "said_direction")
    files = live.names.files
    for question in live.definition.yes_no_questions:
        look = live.sequence(question.name)
        if look is None:
            continue
        start, nothing = (question.name, look.n), ("",) * 3
        if (cheaters := look.cheater_proportion) is not None:
            yield (*start, "cheater_proportion", "", "", "", cheaters.value, *_both(cheaters.interval), *nothing, True, "")
        for effect in look.effects:
            names, public = (effect.method, files[effect.treatment], files[effect.control]), effect.for_publication
            evidence = (effect.direction, effect.log_e_more, effect.log_e_fewer)
            delta = effect.honest_times_effect
            yield (
                *start,
                "effect",
                *names,
                effect.value,
                *_both(effect.interval),
                *evidence,
                public,
                beside(effect.interval, effect.direction),
            )
            yield (*start, "honest_times_effect", *names, delta.value, *_both(delta.interval), *nothing, public, "")
        for one in look.prevalence:
            yield (*start, "prevalence", "efficient", files[one.arm], "", one.value, *_both(one.interval), *nothing, True, "")
        if (test := look.specification) is not None:
            yield (*start, "specification", "efficient", "", "", test.statistic, None, None, "", test.log_e_value, "", True, "")


def _estimates(live: LiveView) -> Iterator[Row]:
    """The planned analysis; only its head before its moment."""
    head = ("question", "n", "quantity", "method", "arm", "against", "estimate", "standard_error", "low", "high", "p_value", "holm_p_value")
    yield (*head, "bootstrap_low", "bootstrap_high", "bootstrap_seed", "for_publication")
    for question in live.definition.yes_no_questions:
        outcome = live.planned.estimate(question.name) if live.planned else None
        if outcome is None:
            continue
        cheaters, start = outcome.cheater_proportion, (question.name, outcome.n)
        yield (
            *(*start, "cheater_proportion", "", "", "", cheaters.value, cheaters.standard_error),
            *(*_both(cheaters.interval), *("",) * 5, True),
        )
        for effect in outcome.effects:
            resampled = effect.bootstrap
            yield (
                *(*start, "effect", effect.method, live.names.files[effect.treatment], live.names.files[effect.control]),
                *(effect.value, effect.standard_error, *_both(effect.interval), effect.p_value, effect.adjusted_p_value),
                *((resampled.low, resampled.high, resampled.seed) if resampled else (None, None, None)),
                effect.for_publication,
            )
        for one in outcome.prevalence:
            share = (*start, "prevalence", "efficient", live.names.files[one.arm], "", one.value, one.standard_error)
            yield (*share, *_both(one.interval), *("",) * 5, True)


def _categories(live: LiveView) -> Iterator[Row]:
    """The planned analysis of questions with categories; only its head before its moment."""
    head = ("question", "n", "quantity", "category", "arm", "against", "estimate", "standard_error", "low", "high")
    yield (*head, "degrees_of_freedom", "p_value", "holm_p_value", "method", "for_publication")
    files = live.names.files
    for shown in live.categories:
        outcome = shown.numbers
        if outcome is None:
            continue
        start, cheaters = (shown.name, outcome.n), outcome.cheater_proportion
        share = (cheaters.value, cheaters.standard_error, *_both(cheaters.interval))
        yield (*start, "cheater_proportion", "", "", "", *share, None, None, None, EFFICIENT, True)
        for row in _effects_on_answers(outcome, files, tested="balance" if shown.is_background else "no_effect"):
            yield (*start, *row, EFFICIENT, True)
        for row in _effects_on_answers(outcome.with_covariates, files) if outcome.with_covariates else ():
            yield (*start, *row, EFFICIENT_WITH_COVARIATES, False)
        for true in outcome.prevalence:
            what = (true.measure, true.category or "", files.get(true.arm, true.arm), "")
            yield (*start, *what, true.value, true.standard_error, *_both(true.interval), None, None, None, EFFICIENT, True)
        for gone in outcome.missing_answers.contrasts if outcome.missing_answers else ():
            about = (gone.category or "", files[gone.treatment], files[gone.control])
            for bounds, ends in (("missing_worst_case", gone.worst_case), ("missing_lee", gone.lee)):
                yield (*start, bounds, *about, None, None, *ends, None, None, None, "", True)


def _effects_on_answers(
    found: CategoryOutcome | AdjustedCategories, files: Mapping[str, str], *, tested: str = "no_effect"
) -> Iterator[Row]:
    """The tests and the effects, from the quantity to Holm's p-value."""
    for test in found.no_effect:
        what = (tested, "", files[test.treatment], files[test.control], test.statistic, None, None, None)
        yield (*what, test.df, test.p_value, test.adjusted_p_value)
    for one in found.effects:
        about = (f"effect_on_{one.measure}", one.category or "", files[one.treatment], files[one.control])
        yield (*about, one.value, one.standard_error, *_both(one.interval), None, one.p_value, one.adjusted_p_value)


def _running(live: LiveView) -> Iterator[Row]:
    """For effects; in a survey for the prevalence."""
    yield ("question", "arm", "n", "estimate", "anytime_low", "anytime_high")
    for (question, treatment, _control), moments in live.moments.items():
        for one in moments:
            yield (question, live.names.files[treatment], one.n, one.value, *(one.ends or NO_ENDS))


def _direct(live: LiveView) -> Iterator[Row]:
    """Only its head while the study runs."""
    head = ("question", "category", "quantity", "arm", "against", "n", "yes", "estimate", "standard_error", "low", "high", "p_value")
    yield (*head, "for_publication")
    files = live.names.files
    for outcome in live.direct_group.outcomes if live.direct_group else ():
        for share in outcome.prevalence:
            start = (outcome.question, outcome.category or "", "said_yes_directly", files[share.arm], "", share.n, share.yes)
            yield (*start, share.value, None, *_both(share.interval), None, False)
        for one in outcome.differences:
            start = (outcome.question, outcome.category or "", "difference", files[one.treatment], files[one.control], None, None)
            yield (*start, one.value, None, *_both(one.interval), None, False)
        for gap in outcome.under_reporting:
            start = (outcome.question, outcome.category or "", "die_minus_direct", files[gap.arm], "", None, None)
            yield (*start, gap.value, gap.standard_error, *_both(gap.interval), gap.p_value, False)


def _both(interval: Interval | None) -> Ends:
    return ends_of(interval) or NO_ENDS
