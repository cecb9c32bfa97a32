"""Results and numbers of people as plain values for one reader: the content of the live page, for programs, with the same blinding."""

from collections.abc import Mapping
from typing import Any

from accounts.models import User
from analysis.live.blinding import lettered
from analysis.live.page import LiveView, live_view
from analysis.live.progress import progress_of
from analysis.models import Run, RunKind
from analysis.selectors import state_of_work
from surveys.counts import counts_of
from surveys.models import Study

LANGUAGE = "en"  # of labels, which the documents do not hold: arms have the names of the study file, or letters


def results_document(study: Study, *, reader: User, ask_blinded: bool) -> dict[str, Any]:
    """The newest first and full results, where there are any, and the computation under way."""
    live = live_view(study, reader=reader, language=LANGUAGE, ask_blinded=ask_blinded)
    names = live.names if live else None
    return {
        "study": study.slug,
        "status": study.status,
        "blinded": bool(names and names.blinded),
        "arms": list(names.files.values()) if names else [],
        "control": None if names is None or names.blinded else names.control,
        "background_deleted_on": study.forgotten_on,
        "first_results": live and _described(live.first, live.first_results, live),
        "full_results": live and _described(live.full, live.full_results, live),
        "work": {kind.value: state_of_work(study, kind) for kind in RunKind},
    }


def counts_document(study: Study, *, reader: User, with_groups: bool, ask_blinded: bool) -> dict[str, Any]:
    """How many people are where; by subsample and arm for those who may see results."""
    live = live_view(study, reader=reader, language=LANGUAGE, ask_blinded=ask_blinded) if with_groups else None
    progress = progress_of(study, live.definition, names=live.names.groups_in_files) if live else None
    groups = progress.flow.groups if progress else []
    return {
        "study": study.slug,
        "totals": progress.counts if progress else counts_of(study),
        "groups": groups if with_groups else None,
        "planned": progress.planned if progress else None,
        "days_left": progress.days_left if progress else None,
    }


def _described(run: Run | None, results: Mapping[str, Any], live: LiveView) -> dict[str, Any] | None:
    if run is None:
        return None
    stored = results.get("outcomes", {})
    outcomes = [_outcome(question, stored[question]) for question in live.questions_in(stored)]
    found: dict[str, Any] = lettered(
        {"outcomes": outcomes, "balance": results.get("balance"), "direct_group": results.get("direct_group")}, live.names
    )
    return {**found, "run": run.pk, "n": run.n, "seed": run.seed, "method_version": run.method_version, "finished_on": run.finished_on}


def _outcome(question: str, outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Estimates without covariates are fit to be published; the others say themselves that they are not."""
    effects = [{"for_publication": True, **effect} for effect in outcome.get("effects", ())]
    return {"notes": (), "prevalence": (), "anytime": (), **outcome, "question": question, "effects": effects}
