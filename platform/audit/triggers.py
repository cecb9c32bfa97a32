"""The database's own refusal to change the log, for whoever goes around the models."""

from django.db.backends.base.base import BaseDatabaseWrapper

_REFUSAL = "audit entries can be neither changed nor deleted"

_IN_THE_WAY = "WHEN EXISTS (SELECT 1 FROM audit_entry WHERE sequence = NEW.sequence OR hash = NEW.hash)"

STATEMENTS = {
    "postgresql": (
        f"""CREATE OR REPLACE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION '{_REFUSAL}' USING ERRCODE = 'integrity_constraint_violation'; END $$""",
        """CREATE OR REPLACE TRIGGER audit_entry_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entry
        FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse()""",
        """CREATE OR REPLACE TRIGGER audit_head_is_kept BEFORE DELETE OR TRUNCATE ON audit_head
        FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse()""",
    ),
    "sqlite": (
        *(
            f"CREATE TRIGGER IF NOT EXISTS {name} BEFORE {event} ON {table} {condition} BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
            for name, event, table, condition in (
                ("audit_entry_is_not_updated", "UPDATE", "audit_entry", ""),
                ("audit_entry_is_not_deleted", "DELETE", "audit_entry", ""),
                ("audit_head_is_kept", "DELETE", "audit_head", ""),
                # `INSERT OR REPLACE` deletes what is in its way, and the trigger on deletion is not asked.
                ("audit_entry_is_not_replaced", "INSERT", "audit_entry", _IN_THE_WAY),
            )
        ),
    ),
}
_REMOVE = {
    "postgresql": (
        "DROP TRIGGER IF EXISTS audit_entry_is_append_only ON audit_entry",
        "DROP TRIGGER IF EXISTS audit_head_is_kept ON audit_head",
        "DROP FUNCTION IF EXISTS audit_refuse()",
    ),
    "sqlite": (
        "DROP TRIGGER IF EXISTS audit_entry_is_not_updated",
        "DROP TRIGGER IF EXISTS audit_entry_is_not_deleted",
        "DROP TRIGGER IF EXISTS audit_entry_is_not_replaced",
        "DROP TRIGGER IF EXISTS audit_head_is_kept",
    ),
}


def install(connection: BaseDatabaseWrapper) -> None:
    """Refuse UPDATE, DELETE and TRUNCATE on the log from now on."""
    _execute(connection, STATEMENTS[connection.vendor])


def remove(connection: BaseDatabaseWrapper) -> None:
    """Lift the refusal: for undoing the migration, and for tests that empty every table between them."""
    _execute(connection, _REMOVE[connection.vendor])


def _execute(connection: BaseDatabaseWrapper, statements: tuple[str, ...]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
