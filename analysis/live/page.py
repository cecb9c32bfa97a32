"""Puts the live page together for one reader: words, numbers, figures and tables from the same view of the study."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from django.utils.translation import gettext as _

from accounts.models import User
from analysis.answers.balance import NOTABLE
from analysis.figures.flow import enrolment_figure, flow_figure
from analysis.figures.intervals import Difference, Moment, balance_figure, forest_figure, running_figure
from analysis.live.blinding import ArmNames, arm_names, is_blinded, readable
from analysis.live.progress import Progress, progress_of
from analysis.live.wording import (
    always_known_sentence,
    bounds_sentence,
    cheater_sentence,
    effect_sentence,
    method_name,
    specification_sentence,
)
from analysis.models import Run, RunKind
from analysis.selectors import history, latest_results
from candor.figures.drawing import Drawing
from candor.figures.forest import Ends, ForestRow
from surveys.definition import StudyDefinition
from surveys.models import Study
from surveys.protocols import frozen_protocol

Row = Sequence[object]
# Names that the table of direct answers gives to the parts of the results.
DIRECT_QUANTITIES = {"said_yes_directly": "prevalence", "difference": "differences", "die_minus_direct": "under_reporting"}


@dataclass(frozen=True, kw_only=True)
class LiveView:
    """A study with a protocol, as one reader sees it now. Everything is read once, on first use."""

    study: Study
    definition: StudyDefinition
    names: ArmNames
    language: str

    @cached_property
    def progress(self) -> Progress:
        return progress_of(self.study, self.definition, names=self.names.groups)

    @cached_property
    def first(self) -> Run | None:
        return latest_results(self.study)

    @cached_property
    def full(self) -> Run | None:
        return latest_results(self.study, RunKind.FULL_RESULTS)

    @cached_property
    def first_outcomes(self) -> dict[str, Any]:
        outcomes: dict[str, Any] = self.first_results.get("outcomes", {})
        return outcomes

    @cached_property
    def first_results(self) -> dict[str, Any]:
        return self._results(self.first)

    @cached_property
    def direct_group(self) -> dict[str, Any] | None:
        """The direct answers, with this reader's names of questions and arms; None where nobody is asked directly."""
        found = self.first_results.get("direct_group")
        if not found:
            return None
        questions = {question.name: question.text.in_language(self.language) for question in self.definition.questions}
        outcomes = [
            {
                **outcome,
                "text": questions[outcome["question"]],
                "rows": [
                    {"arm": self.names.shown[direct["arm"]], "direct": direct, "compared": compared}
                    for direct, compared in zip(outcome["prevalence"], outcome["under_reporting"], strict=True)
                ],
                "contrasts": [{**one, "label": self.contrast(one)} for one in outcome["differences"]],
            }
            for outcome in found["outcomes"]
        ]
        return {**found, "outcomes": outcomes}

    @cached_property
    def full_results(self) -> dict[str, Any]:
        return self._results(self.full)

    def _results(self, run: Run | None) -> dict[str, Any]:
        return readable(run.results, self.names) if run and run.results else {}

    @cached_property
    def moments(self) -> dict[tuple[str, str, str], list[Moment]]:
        """How the estimate moved, by question, treatment and control."""
        found: dict[tuple[str, str, str], list[Moment]] = {}
        for n, results in history(self.study):
            outcomes = readable(results, self.names)["outcomes"]
            for question in self.questions_in(outcomes):
                outcome = outcomes[question]
                simple = {one["treatment"]: one for one in outcome.get("effects", ()) if one["method"] == "difference_in_means"}
                for anytime in outcome.get("anytime", ()):
                    effect = simple.get(anytime["treatment"], {})
                    moment = Moment(n=n, value=anytime["value"], fixed=_ends(effect.get("interval")), anytime=_ends(anytime["interval"]))
                    found.setdefault((question, anytime["treatment"], anytime["control"]), []).append(moment)
        return found

    def questions_in(self, outcomes: Collection[str]) -> list[str]:
        """The questions with outcomes, in the order of the study: a database may return stored results in another one."""
        return [question.name for question in self.definition.questions if question.name in outcomes]

    @cached_property
    def balance(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.full_results.get("balance", {}).get("differences", [])
        return [{**row, "notable": row["difference"] is not None and abs(row["difference"]) > NOTABLE} for row in rows]

    def contrast(self, effect: Mapping[str, Any]) -> str:
        names = {"treatment": self.names.shown[effect["treatment"]], "control": self.names.shown[effect["control"]]}
        return _("%(treatment)s minus %(control)s") % names

    def outcomes(self) -> Iterator[dict[str, Any]]:
        """The page's content per question: words from the first results, which are newest, and every method from the full ones."""
        full_outcomes = self.full_results.get("outcomes", {})
        for question in self.definition.questions:
            newest = self.first_outcomes.get(question.name) or full_outcomes.get(question.name)
            if newest is None:
                continue
            known = "not_yet" not in newest
            full = full_outcomes.get(question.name, {})
            detailed = full if "effects" in full else newest if known else None
            yield {
                "name": question.name,
                "question": question.text.in_language(self.language),
                "n": newest["n"],
                "cheater_sentence": cheater_sentence(newest["cheater_proportion"]) if known else newest["not_yet"],
                "sentences": list(self._sentences(newest)) if known else [],
                "estimate": None if detailed is None else self._described(detailed),
                "is_full": detailed is full,
                "forest": f"forest-{question.name}",
                "running": f"running-{question.name}",
            }

    def _sentences(self, outcome: Mapping[str, Any]) -> Iterator[str]:
        for effect in outcome["effects"]:
            if effect["method"] == "difference_in_means":
                names = {"treatment": self.names.shown[effect["treatment"]], "control": self.names.shown[effect["control"]]}
                if outcome["identified"]:
                    yield effect_sentence(effect, **names)
                yield from filter(None, (always_known_sentence(effect, **names), bounds_sentence(effect)))
        if self.names.hides_contrasts:
            yield _("Effects are compared with the control arm, which would tell who is who; they are shown when the study is closed.")

    def _described(self, outcome: Mapping[str, Any]) -> dict[str, Any]:
        effects = [
            {**effect, "contrast": self.contrast(effect), "method_name": method_name(effect["method"])} for effect in outcome["effects"]
        ]
        prevalence = [{**one, "label": self.names.shown[one["arm"]]} for one in outcome.get("prevalence", ())]
        test = outcome.get("specification_test")
        return {**outcome, "effects": effects, "prevalence": prevalence, "specification_sentence": specification_sentence(test)}

    # Figures

    def figures(self) -> dict[str, Callable[[], Drawing | None]]:
        """Every figure by the name in its address; None while there is nothing to draw."""
        found: dict[str, Callable[[], Drawing | None]] = {
            "participants": lambda: flow_figure(self.progress.flow),
            "enrolment": lambda: enrolment_figure(self.progress.days, planned=self.progress.planned),
            "balance": self._balance_figure,
        }
        for question in self.definition.questions:
            found[f"forest-{question.name}"] = partial(self.forest, question.name)
            found[f"running-{question.name}"] = partial(self.running, question.name)
        return found

    def _balance_figure(self) -> Drawing | None:
        several = len({row["treatment"] for row in self.balance}) > 1
        lines = [
            Difference(
                label=f"{self.names.shown[row['treatment']]}: {row['variable']}" if several else row["variable"],
                value=row["difference"],
                notable=row["notable"],
            )
            for row in self.balance
        ]
        return balance_figure(lines, notable=NOTABLE) if lines else None

    def forest(self, question: str) -> Drawing | None:
        full = self.full_results.get("outcomes", {}).get(question, {})
        effects = (full if "effects" in full else self.first_outcomes.get(question, {})).get("effects", ())
        rows = [
            ForestRow.of(
                effect["value"],
                _ends(effect["interval"]),
                label=self.contrast(effect),
                detail=method_name(effect["method"]) + ("" if effect.get("for_publication", True) else " *"),
                second=_ends(effect["bootstrap"]),
            )
            for effect in effects
        ]
        return forest_figure(rows, title=_("Effects on “%(question)s” by method") % {"question": question}) if rows else None

    def running(self, question: str) -> Drawing | None:
        """The running estimates of every contrast, one below the other."""
        found = {
            self.contrast({"treatment": treatment, "control": control}): moments
            for (name, treatment, control), moments in self.moments.items()
            if name == question
        }
        title = _("The estimate for “%(question)s” as answers came in") % {"question": question}
        return running_figure(found, planned=self.definition.planned_with_die, title=title) if found else None

    # Tables

    def tables(self) -> dict[str, Callable[[], Iterator[Row]]]:
        """Every table by the name in its address, its head first. Names of the study file, not texts of a language."""
        return {
            "participants": self._participants_table,
            "enrolment": self._enrolment_table,
            "balance": self._balance_table,
            "estimates": self._estimates_table,
            "running": self._running_table,
            **({"direct": self._direct_table} if self.direct_group else {}),
        }

    def _participants_table(self) -> Iterator[Row]:
        files = {shown: self.names.groups_in_files[arm] for arm, shown in self.names.groups.items()}
        flow = self.progress.flow
        yield ("subsample", "arm", "consented", "declined", "assigned", "saw_the_lecture", "answered", "withdrew")
        yield (
            "all",
            "all",
            flow.consented,
            flow.declined,
            flow.assigned,
            sum(g.watched for g in flow.groups),
            flow.finished,
            flow.withdrew,
        )
        for group in flow.groups:
            yield (group.subsample, files[group.arm], "", "", group.assigned, group.watched, group.finished, "")

    def _enrolment_table(self) -> Iterator[Row]:
        yield ("day", "consented", "answered", "consented_so_far", "answered_so_far")
        for day in self.progress.days:
            yield (day.day.isoformat(), day.consented, day.finished, day.consented_so_far, day.finished_so_far)

    def _balance_table(self) -> Iterator[Row]:
        yield ("arm", "against", "variable", "mean", "mean_against", "standardised_difference", "for_publication")
        for row in self.balance:
            arms = self.names.files[row["treatment"]], self.names.files[row["control"]]
            yield (*arms, row["variable"], row["treatment_mean"], row["control_mean"], row["difference"], False)

    def _estimates_table(self) -> Iterator[Row]:
        head = (
            "question",
            "n",
            "quantity",
            "method",
            "arm",
            "against",
            "estimate",
            "standard_error",
            "low",
            "high",
            "p_value",
            "holm_p_value",
        )
        yield (*head, "bootstrap_low", "bootstrap_high", "bootstrap_seed", "for_publication")
        full = self.full_results.get("outcomes", {})
        for question in self.definition.questions:
            outcome = full.get(question.name) or self.first_outcomes.get(question.name, {})
            if "effects" not in outcome:
                continue
            cheaters = outcome["cheater_proportion"]
            low, high = _ends(cheaters["interval"]) or (None, None)
            start = (question.name, outcome["n"])
            yield (*start, "cheater_proportion", "", "", "", cheaters["value"], cheaters["standard_error"], low, high, *("",) * 5, True)
            for effect in outcome["effects"]:
                low, high = _ends(effect["interval"]) or (None, None)
                resampled = effect["bootstrap"] or {"low": None, "high": None, "seed": None}
                yield (
                    *(*start, "effect", effect["method"], self.names.files[effect["treatment"]], self.names.files[effect["control"]]),
                    *(effect["value"], effect["standard_error"], low, high, effect["p_value"], effect["adjusted_p_value"]),
                    *(resampled["low"], resampled["high"], resampled["seed"], effect.get("for_publication", True)),
                )

    def _running_table(self) -> Iterator[Row]:
        yield ("question", "arm", "n", "estimate", "low", "high", "anytime_low", "anytime_high")
        for (question, treatment, _control), moments in self.moments.items():
            for one in moments:
                yield (
                    question,
                    self.names.files[treatment],
                    one.n,
                    one.value,
                    *(one.fixed or (None, None)),
                    *(one.anytime or (None, None)),
                )

    def _direct_table(self) -> Iterator[Row]:
        """Only its head while the study runs."""
        head = ("question", "quantity", "arm", "against", "n", "yes", "estimate", "standard_error", "low", "high", "p_value")
        yield (*head, "for_publication")
        for outcome in (self.direct_group or {}).get("outcomes", ()):
            for name, parts in DIRECT_QUANTITIES.items():
                for one in outcome[parts]:
                    arms = [self.names.files[one[key]] if key in one else "" for key in ("arm", "treatment", "control")]
                    numbers = (one.get("n"), one.get("yes"), one["value"], one.get("standard_error"))
                    ends = _ends(one["interval"]) or (None, None)
                    yield (outcome["question"], name, arms[0] or arms[1], arms[2], *numbers, *ends, one.get("p_value"), False)


def live_view(study: Study, *, reader: User, language: str, ask_blinded: bool) -> LiveView | None:
    """None for a study without a protocol, of which there is nothing to see yet."""
    if study.protocol_id is None:
        return None
    definition = frozen_protocol(study.protocol_id).definition
    blinded = is_blinded(study, reader=reader, asked=ask_blinded)
    return LiveView(
        study=study,
        definition=definition,
        names=arm_names(study, definition, blinded=blinded, language=language),
        language=language,
    )


def _ends(interval: Mapping[str, Any] | None) -> Ends | None:
    if interval is None or interval.get("kind") == "empty":
        return None
    return interval["low"], interval["high"]
