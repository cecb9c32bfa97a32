"""Whether the copy has everything that the primary server had written when it was asked.

No page notes what it wrote, so that none can forget to: the primary tells the end of its write-ahead log, and the copy whether it has
replayed that far. A withdrawal that somebody was told of is before that end. Where the copy is behind, waits for nobody, or is away, the
primary answers the request.
"""

import logging
import time
from contextvars import ContextVar

from django.db import DatabaseError, connections

REPLICA = "replica"
PATIENCE_SECONDS = 0.03
"""For so long a request waits until the copy has caught up; a healthy one needs a few milliseconds."""
ASK_AGAIN_SECONDS = 0.003
REST_SECONDS = 5.0
"""After a failure the copy is left alone for so long."""
CLUSTER = "(SELECT system_identifier FROM pg_control_system())::text"
END_OF_LOG = f"SELECT pg_current_wal_insert_lsn()::text, {CLUSTER}"
HAS_REPLAYED = f"SELECT pg_is_in_recovery() AND {CLUSTER} = %s AND coalesce(pg_last_wal_replay_lsn() >= %s::pg_lsn, false)"
"""The log of another database, for instance of the one before a restore, compares with nothing."""

reads_from_replica: ContextVar[bool] = ContextVar("reads_from_replica", default=False)
logger = logging.getLogger(__name__)
_rests_until = 0.0


def is_fresh() -> bool:
    """Whether this request may read from the copy."""
    if time.monotonic() < _rests_until:
        return False
    with connections["default"].cursor() as cursor:
        cursor.execute(END_OF_LOG)
        end, cluster = cursor.fetchone()
    try:
        return _has_replayed(end, cluster)
    except DatabaseError:
        let_rest()
        return False


def let_rest() -> None:
    """Ask the copy nothing for some seconds, and tell administrators."""
    global _rests_until
    if not _rests_until:
        logger.warning(
            "The copy of the database in CANDOR_REPLICA_URL does not answer; the primary one answers everything. Not told again."
        )
    _rests_until = time.monotonic() + REST_SECONDS
    connections[REPLICA].close()


def _has_replayed(end: str, cluster: str) -> bool:
    """Whether the copy gets there in time. One that has become a primary server is no copy any more."""
    until = time.monotonic() + PATIENCE_SECONDS
    with connections[REPLICA].cursor() as cursor:
        while True:
            cursor.execute(HAS_REPLAYED, [cluster, end])
            [there] = cursor.fetchone()
            if there or time.monotonic() >= until:
                return bool(there)
            time.sleep(ASK_AGAIN_SECONDS)
