"""The kept counts of a study, compared with the rows of its people."""

import logging

from surveys.batches.services import ATTEMPTS, count_again
from surveys.batches.tally import counted, differences, kept_lines, read, taken_until
from surveys.models import KeptCounts, Study

logger = logging.getLogger(__name__)


def wrong_counts(study: Study) -> dict[str, int] | None:
    """How many kept counts of each kind differ from what the rows of people tell. None: nothing is kept yet, or batches came all the time.

    It holds no row, so that nobody waits: counts that were written meanwhile are compared again.
    """
    for _attempt in range(ATTEMPTS):
        before = KeptCounts.objects.filter(study=study.pk, changes__gt=0).first()
        if before is None:
            return None
        found = counted(study=study.pk)
        if KeptCounts.objects.filter(study=study.pk, changes=before.changes).exists():
            lines = kept_lines(study.pk)
            return differences(read(before), found) | ({} if lines == taken_until(study.pk, lines) else {"lines": 1})
    return None


def check_counts() -> None:
    """Compare the kept counts of all studies with the rows of people, and count again where they differ or where there are none."""
    for study in Study.objects.filter(protocol__isnull=False).defer("definition"):
        wrong = wrong_counts(study)
        if wrong:
            logger.error("The kept counts of %s were wrong and are counted again; please report this: %s", study.slug, ", ".join(wrong))
        if wrong or not KeptCounts.objects.filter(study=study, changes__gt=0).exists():
            count_again(study)
