"""Reading rehearsals."""

from surveys.models import Study


def rehearsal_of(study: Study) -> Study | None:
    """The sandbox copy in which bots walk, for people who run the study. Only this function returns it; lists of studies leave rehearsals
    out.
    """
    return Study.objects.filter(rehearsal_of=study).select_related("bot_run").first()
