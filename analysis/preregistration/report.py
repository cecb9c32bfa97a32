"""Each planned analysis beside what was done: as planned, otherwise with what differs, or not done; everything else is exploratory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from analysis.stored_results import MarkedEffect, QuestionEstimate, Results
from candor.categories.results import CategoryOutcome
from candor.results import Prevalence
from surveys.preregistration.documents import Plan, planned_tests_of
from surveys.preregistration.method_names import method_name
from surveys.preregistration.planned_tests import planned_tests_in_words
from surveys.preregistration.selectors import KeptPlan

Verdict = Literal["as_planned", "otherwise", "not_done"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAnalysis:
    """One hypothesis, or the size of the sample, with what became of it."""

    planned: str
    verdict: Verdict
    differences: tuple[str, ...]
    effect: MarkedEffect | Prevalence | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`exploratory` are analyses that nobody planned; `amendments` the plans that were kept after the first."""

    plan: KeptPlan
    amendments: tuple[KeptPlan, ...]
    analyses: tuple[PlannedAnalysis, ...]
    exploratory: tuple[str, ...]


def report_of(plans: Sequence[KeptPlan], results: Results | None) -> Report | None:
    """The report at the end of a study; None where no plan was kept.

    Everything is compared with the first plan: a change that was approved later is an amendment, and differs from what was registered.
    """
    if not plans:
        return None
    document = plans[0].document
    hypotheses = [_hypothesis(one, document, results) for one in document["hypotheses"]]
    return Report(
        plan=plans[0],
        amendments=tuple(plans[1:]),
        analyses=(
            _sample(document, results),
            *hypotheses,
            *_prevalences(document, results),
            *_categories(document, results),
            *_planned_tests(document, results),
            *_subgroups(document, results),
        ),
        exploratory=tuple(_exploratory(document, results)),
    )


def _sample(document: Plan, results: Results | None) -> PlannedAnalysis:
    planned, counted = document["sample"]["planned_with_die"], 0 if results is None else results.n
    said = _("Answers with the die from %(planned)d people") % {"planned": planned}
    if strata := document["sample"].get("strata"):
        said = _("%(sample)s, assigned within strata of %(questions)s") % {"sample": said, "questions": ", ".join(strata)}
    if not counted:
        return PlannedAnalysis(planned=said, verdict="not_done", differences=())
    differences = []
    if counted != planned:
        differences.append(_("%(counted)d people are in the numbers.") % {"counted": counted})
    if results is not None and dict(results.design) != document["design"]:
        differences.append(_("Arms, die, allocation or the assumption about cheaters are not those that were planned."))
    return PlannedAnalysis(planned=said, verdict="otherwise" if differences else "as_planned", differences=tuple(differences))


def _hypothesis(hypothesis: Mapping[str, str], document: Plan, results: Results | None) -> PlannedAnalysis:
    said = _("“%(question)s”: %(treatment)s against %(control)s") % {
        "question": hypothesis["text"],
        "treatment": hypothesis["treatment_label"],
        "control": hypothesis["control_label"],
    }
    estimate = None if results is None else results.estimate(hypothesis["question"])
    effects = {} if estimate is None else _by_method(estimate, hypothesis)
    primary = effects.get(document["analysis"]["primary_method"])
    if estimate is None or not effects:
        return PlannedAnalysis(planned=said, verdict="not_done", differences=())
    differences = tuple(_differences(primary, effects, document))
    return PlannedAnalysis(planned=said, verdict="otherwise" if differences else "as_planned", differences=differences, effect=primary)


def _planned_tests(document: Plan, results: Results | None) -> Iterator[PlannedAnalysis]:
    """Every margin and every family: whether the test was made, and against this margin or over these questions."""
    planned, texts = planned_tests_of(document), {one["question"]: one["text"] for one in document["hypotheses"]}
    margins = {name: (tests[0].margin, tests[0].worse) for name, tests in results.margins.items() if tests} if results else {}
    families: dict[str, set[str]] = {}
    for test in results.families if results else ():
        families.setdefault(test.family, set()).add(test.question)
    compared: list[tuple[object, object]] = [
        *((margins.get(name), (one.points / 100, one.worse)) for name, one in planned.margins.items()),
        *((families.get(name), set(members)) for name, members in planned.families.items()),
    ]
    for (term, words), (done, wanted) in zip(planned_tests_in_words(planned, texts), compared, strict=True):
        verdict: Verdict = "not_done" if done is None else "as_planned" if done == wanted else "otherwise"
        differences = (_("Another margin or other questions were tested."),) if verdict == "otherwise" else ()
        yield PlannedAnalysis(planned=f"{term}: {words}", verdict=verdict, differences=differences)


def _prevalences(document: Plan, results: Results | None) -> Iterator[PlannedAnalysis]:
    """Each question of a survey; plans that were kept before there were any name none."""
    for one in document.get("prevalences", ()):
        estimate = None if results is None else results.estimate(one["question"])
        found = next((share for share in estimate.prevalence if share.arm == one["arm"]), None) if estimate else None
        said = _("How many truly say yes to “%(question)s”") % {"question": one["text"]}
        yield PlannedAnalysis(planned=said, verdict="not_done" if found is None else "as_planned", differences=(), effect=found)


def _categories(document: Plan, results: Results | None) -> Iterator[PlannedAnalysis]:
    """Each question with several answers."""
    for one in document.get("categories", ()):
        found = None if results is None else results.categories.get(one["question"])
        said = _("“%(text)s”: each answer") % {"text": one["text"]}
        yield PlannedAnalysis(planned=said, verdict="as_planned" if isinstance(found, CategoryOutcome) else "not_done", differences=())


def _subgroups(document: Plan, results: Results | None) -> Iterator[PlannedAnalysis]:
    """Each background question by which the effects were to be compared."""
    done = _compared_subgroups(results)
    for name in document["analysis"]["subgroups"]:
        said = _("The effects compared between the answers to “%(question)s”") % {"question": name}
        yield PlannedAnalysis(planned=said, verdict="as_planned" if name in done else "not_done", differences=())


def _compared_subgroups(results: Results | None) -> set[str]:
    found = results.subgroups if results is not None else None
    return {one.variable for one in found.outcomes} if found is not None and found.ended and not found.withdrawn else set()


def _by_method(estimate: QuestionEstimate, hypothesis: Mapping[str, str]) -> dict[str, MarkedEffect]:
    wanted = (hypothesis["treatment"], hypothesis["control"])
    return {one.method: one for one in estimate.effects if (one.treatment, one.control) == wanted}


def _differences(primary: MarkedEffect | None, effects: Mapping[str, MarkedEffect], document: Plan) -> Iterator[str]:
    planned = document["analysis"]
    if primary is None:
        yield _("The primary method, %(method)s, was not used.") % {"method": method_name(planned["primary_method"])}
    for method in planned["further_methods"]:
        if method not in effects:
            yield _("%(method)s was planned beside it, and was not used.") % {"method": method_name(method)}
    if primary is not None and primary.interval is not None and primary.interval.level != planned["level"]:
        yield _("The interval has the level %(found)s, planned was %(planned)s.") % {
            "found": number_format(primary.interval.level),
            "planned": number_format(planned["level"]),
        }


def _exploratory(document: Plan, results: Results | None) -> Iterator[str]:
    """Every estimate whose question, contrast or method nobody planned."""
    methods = {document["analysis"]["primary_method"], *document["analysis"]["further_methods"]}
    planned = {(one["question"], one["treatment"], one["control"], method) for one in document["hypotheses"] for method in methods}
    for question in results.outcomes if results is not None else ():
        estimate = results.estimate(question) if results is not None else None
        for effect in estimate.effects if estimate is not None else ():
            if (question, effect.treatment, effect.control, effect.method) not in planned:
                names = {"question": question, "treatment": effect.treatment, "control": effect.control}
                yield _("%(question)s: %(treatment)s against %(control)s, %(method)s") % (names | {"method": method_name(effect.method)})
    for name in sorted(_compared_subgroups(results) - set(document["analysis"]["subgroups"])):
        yield _("The effects compared between the answers to “%(question)s”") % {"question": name}
    if results is not None and results.direct_group is not None and document["sample"]["direct_share"] == "0":
        yield _("The comparison with people who were asked directly")
