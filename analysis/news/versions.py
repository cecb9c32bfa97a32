"""The version of a study's results and numbers, which is all that news tell."""

from django.utils.crypto import salted_hmac

from analysis.selectors import finished_runs
from surveys.batches.selectors import version_of_shown_numbers
from surveys.models import Study

LENGTH = 16


def version_of_results(study: Study) -> str:
    """Another value whenever results or numbers of people are others; the same for every reader. Nobody can count with it."""
    moved = version_of_shown_numbers(study), finished_runs(study)
    return salted_hmac("analysis.news.version", repr((study.pk, moved))).hexdigest()[:LENGTH]
