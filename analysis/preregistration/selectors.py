"""The report of a study that has ended."""

from dataclasses import replace

from analysis.models import RunKind
from analysis.preregistration.report import Report, report_of
from analysis.selectors import latest_results, planned_results
from analysis.stored_results import Results, read_results
from surveys.batches.selectors import batch_progress
from surveys.models import ENDED, Study
from surveys.preregistration.selectors import plans_of
from surveys.protocols import protocol_at_launch


def report_on(study: Study) -> Report | None:
    """Planned beside done; None while the study runs, and where no plan was kept."""
    return report_of(plans_of(study), _results(study)) if study.status in ENDED else None


def _results(study: Study) -> Results | None:
    """The one look that was planned, with what comes at the end alone: subgroups, and those who were asked directly. The full results, or
    else the first ones, which lack the methods with background answers; None where nobody may see any.
    """
    if not batch_progress(study).shows_results:
        return None
    planned = protocol_at_launch(study).definition.planned_with_die
    looks = (planned_results(study, planned=planned, kind=kind) for kind in (RunKind.FULL_RESULTS, RunKind.FIRST_RESULTS))
    look = next((results for _run, results in filter(None, looks)), None)
    newest = latest_results(study, RunKind.FULL_RESULTS)
    at_the_end = read_results(newest.results) if newest else None
    if look is None or at_the_end is None:
        return look
    return replace(look, subgroups=at_the_end.subgroups, direct_group=at_the_end.direct_group)
