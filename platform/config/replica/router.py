"""The tables that pages of results and public data read from the copy. All others, and every write, belong to the primary server.

Accounts, memberships, the state of a study and the accounts of privacy budgets are never in this list.
"""

from django.db import connections, models

from config.replica.freshness import REPLICA, reads_from_replica

READ_FROM_REPLICA = {
    "analysis.run",
    "analysis.chunk",
    "analysis.release",
    "analysis.recordpackage",
    "surveys.participant",
    "surveys.response",
    "surveys.categoryresponse",
    "surveys.directanswer",
    "surveys.shardedcounter",
    "surveys.attritioncount",
    "surveys.shownnumbers",
    "surveys.keptcounts",
}


class ReplicaRouter:
    """Django asks it for each query. A request that has begun a transaction reads what it wrote itself."""

    def db_for_read(self, model: type[models.Model], **hints: object) -> str:
        may_read = reads_from_replica.get() and model._meta.label_lower in READ_FROM_REPLICA
        return REPLICA if may_read and not connections["default"].in_atomic_block else "default"

    def db_for_write(self, model: type[models.Model], **hints: object) -> str:
        return "default"

    def allow_relation(self, one: models.Model, other: models.Model, **hints: object) -> bool:
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: object) -> bool:
        return db == "default"
