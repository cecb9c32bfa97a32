"""Background tasks of releases; each is harmless when delivered twice."""

from celery import shared_task

from analysis.models import Release, ReleaseStatus
from analysis.releases import building


@shared_task(name="analysis.releases.tasks.build")
def build(release_id: int) -> None:
    """Build a release that waits."""
    release = building.claim(release_id)
    if release is not None and not building.build(release):
        build.delay(release_id)


@shared_task(name="analysis.releases.tasks.sweep")
def sweep() -> None:
    """Start what the broker forgot and killed workers left, and delete what withdrawals made outdated, should nobody have noticed."""
    for release_id in building.waiting():
        build.delay(release_id)
    for study_id in Release.objects.filter(status__in=(ReleaseStatus.BUILT, ReleaseStatus.REQUESTED)).values_list("study_id", flat=True):
        building.discard_outdated(study_id)
