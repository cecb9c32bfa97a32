"""How a snapshot is made: a worker reads the closed study once. A withdrawal meanwhile takes the work away and asks for it anew."""

from django.utils.translation import gettext as _

from analysis.models import Snapshot
from analysis.sources.services import keep_table
from jobs.errors import ExpectedError
from jobs.queues import Queue
from jobs.registry import HEAVY, job


@job(kind="snapshot", model=Snapshot, queue=Queue.FILES, priority=HEAVY)
def make_snapshot(snapshot: Snapshot) -> None:
    """Read the rows and store them as columns."""
    from analysis.sources.study_tables import table_of_study
    from surveys.protocols import protocol_in_force

    study = snapshot.source.study
    if study is None:
        raise ExpectedError(_("The rows of a data set come with its import. Import it again."))
    table = table_of_study(study, protocol_in_force(study).definition, tell=lambda rows: snapshot.write(rows_read=rows))
    keep_table(snapshot, table)
