"""Reading results."""

from typing import Any

from analysis.models import Run, RunStatus
from analysis.wording import cheater_sentence, effect_sentence
from surveys.models import Study
from surveys.protocols import frozen_protocol


def latest_results(study: Study) -> Run | None:
    """The newest finished run: the one that saw most answers, and of several the last (after a withdrawal the number goes down)."""
    return Run.objects.filter(study=study, status=RunStatus.DONE).order_by("-pk").first()


def state_of_work(study: Study) -> str:
    """Whether something is being computed, waits, or failed last."""
    statuses = list(Run.objects.filter(study=study).order_by("-pk").values_list("status", flat=True)[:5])
    for status in (RunStatus.RUNNING, RunStatus.QUEUED):
        if status in statuses:
            return status
    return next((status for status in statuses if status != RunStatus.SUPERSEDED), "")


def outcomes_in_words(study: Study, run: Run, *, language: str) -> list[dict[str, Any]]:
    """Per question what the results page shows: words first, numbers beneath."""
    definition = frozen_protocol(study.protocol_id or 0).definition
    labels = {arm.name: arm.label.in_language(language) for arm in definition.arms}
    shown = []
    for question in definition.questions:
        estimate = (run.results or {}).get("outcomes", {}).get(question.name)
        if estimate is None:
            continue
        computed = "not_yet" not in estimate
        shown.append(
            {
                "question": question.text.in_language(language),
                "n": estimate["n"],
                "cheater_sentence": cheater_sentence(estimate["cheater_proportion"]) if computed else estimate["not_yet"],
                "effect_sentences": [
                    effect_sentence(effect, treatment=labels[effect["treatment"]], control=labels[effect["control"]])
                    for effect in estimate["effects"]
                    if effect["method"] == "difference_in_means"
                ]
                if computed
                else [],
                "estimate": estimate if computed else None,
            }
        )
    return shown
