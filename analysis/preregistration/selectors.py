"""The report of a study that has ended."""

from analysis.models import RunKind
from analysis.preregistration.report import Report, report_of
from analysis.selectors import latest_results
from analysis.stored_results import Results, read_results
from surveys.batches.selectors import batch_progress
from surveys.models import ENDED, Study
from surveys.preregistration.selectors import plans_of


def report_on(study: Study) -> Report | None:
    """Planned beside done, from the newest results; None while the study runs, and where no plan was kept."""
    return report_of(plans_of(study), _newest_results(study)) if study.status in ENDED else None


def _newest_results(study: Study) -> Results | None:
    """The full results, or else the first ones, which lack the methods with background answers; None where nobody may see any."""
    if not batch_progress(study).shows_results:
        return None
    for kind in (RunKind.FULL_RESULTS, RunKind.FIRST_RESULTS):
        run = latest_results(study, kind)
        if run is not None and (found := read_results(run.results)) is not None:
            return found
    return None
