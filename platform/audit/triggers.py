"""The database's own refusal to change the log."""

from audit.refusals import Refusal, Trigger

LOG_IS_APPEND_ONLY = Refusal(
    function="audit_refuse",
    sentence="audit entries can be neither changed nor deleted",
    triggers={
        "postgresql": (
            Trigger("audit_entry_is_append_only", "audit_entry", "UPDATE OR DELETE OR TRUNCATE", each="STATEMENT"),
            Trigger("audit_head_is_kept", "audit_head", "DELETE OR TRUNCATE", each="STATEMENT"),
        ),
        "sqlite": (
            Trigger("audit_entry_is_not_updated", "audit_entry", "UPDATE"),
            Trigger("audit_entry_is_not_deleted", "audit_entry", "DELETE"),
            Trigger("audit_head_is_kept", "audit_head", "DELETE"),
            # `INSERT OR REPLACE` deletes what is in its way, and the trigger on deletion is not asked.
            Trigger(
                "audit_entry_is_not_replaced",
                "audit_entry",
                "INSERT",
                when="EXISTS (SELECT 1 FROM audit_entry WHERE sequence = NEW.sequence OR hash = NEW.hash)",
            ),
        ),
    },
)
PUBLISHED_HEADS_ARE_KEPT = Refusal(
    function="audit_refuse_heads",
    sentence="what was published of the audit log can be neither changed nor deleted",
    triggers={
        "postgresql": (Trigger("audit_published_heads_are_kept", "audit_publishedhead", "UPDATE OR DELETE OR TRUNCATE", each="STATEMENT"),),
        "sqlite": (
            Trigger("audit_published_head_is_not_updated", "audit_publishedhead", "UPDATE"),
            Trigger("audit_published_head_is_not_deleted", "audit_publishedhead", "DELETE"),
            Trigger(
                "audit_published_head_is_not_replaced",
                "audit_publishedhead",
                "INSERT",
                when="EXISTS (SELECT 1 FROM audit_publishedhead WHERE day = NEW.day)",
            ),
        ),
    },
)
install, remove = LOG_IS_APPEND_ONLY.install, LOG_IS_APPEND_ONLY.remove
