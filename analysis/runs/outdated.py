"""Results that an older version of the methods stored, and that are to be computed again."""

from django.db.models import OuterRef, Subquery

from analysis.models import Run, RunKind, RunStatus
from analysis.runs import runner
from analysis.stored_results import METHOD_VERSION


def recompute_outdated() -> None:
    """Queue a run for each study and kind whose newest run was done by another version; not again for one that failed or was stopped."""
    newest = Run.objects.filter(study=OuterRef("study"), kind=OuterRef("kind")).order_by("-pk").values("pk")[:1]
    outdated = Run.objects.filter(status=RunStatus.DONE, pk=Subquery(newest)).exclude(method_version=METHOD_VERSION)
    for study_id, kind in outdated.values_list("study_id", "kind"):
        runner.queue_run(study_id, kind=RunKind(kind))
