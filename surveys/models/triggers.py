"""The database's own refusal to change a frozen protocol: the text that somebody agreed to stays what it was.

Sandbox copies of rehearsals, to which nobody agreed, can be deleted. On SQLite a migration that alters the table makes it anew,
without triggers: it must install them again.
"""

from django.db.backends.base.base import BaseDatabaseWrapper

_REFUSAL = "a frozen protocol can be neither changed nor deleted"

_INSTALL = {
    "postgresql": (
        f"""CREATE OR REPLACE FUNCTION surveys_refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION '{_REFUSAL}' USING ERRCODE = 'integrity_constraint_violation'; END $$""",
        """CREATE OR REPLACE TRIGGER protocol_is_not_updated BEFORE UPDATE ON surveys_protocol
        FOR EACH ROW EXECUTE FUNCTION surveys_refuse()""",
        """CREATE OR REPLACE TRIGGER protocol_is_not_deleted BEFORE DELETE ON surveys_protocol
        FOR EACH ROW WHEN (NOT OLD.of_rehearsal) EXECUTE FUNCTION surveys_refuse()""",
        """CREATE OR REPLACE TRIGGER protocols_are_kept BEFORE TRUNCATE ON surveys_protocol
        FOR EACH STATEMENT EXECUTE FUNCTION surveys_refuse()""",
    ),
    "sqlite": tuple(
        f"CREATE TRIGGER IF NOT EXISTS {name} BEFORE {event} ON surveys_protocol {when} BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
        for name, event, when in (
            ("protocol_is_not_updated", "UPDATE", ""),
            ("protocol_is_not_deleted", "DELETE", "WHEN NOT OLD.of_rehearsal"),
        )
    ),
}
_REMOVE = {
    "postgresql": (
        "DROP TRIGGER IF EXISTS protocol_is_not_updated ON surveys_protocol",
        "DROP TRIGGER IF EXISTS protocol_is_not_deleted ON surveys_protocol",
        "DROP TRIGGER IF EXISTS protocols_are_kept ON surveys_protocol",
        "DROP FUNCTION IF EXISTS surveys_refuse()",
    ),
    "sqlite": ("DROP TRIGGER IF EXISTS protocol_is_not_updated", "DROP TRIGGER IF EXISTS protocol_is_not_deleted"),
}


def install(connection: BaseDatabaseWrapper) -> None:
    """Refuse UPDATE, DELETE and TRUNCATE of protocols from now on."""
    _execute(connection, _INSTALL[connection.vendor])


def remove(connection: BaseDatabaseWrapper) -> None:
    """Lift the refusal: for undoing the migration, and for tests that empty every table between them."""
    _execute(connection, _REMOVE[connection.vendor])


def _execute(connection: BaseDatabaseWrapper, statements: tuple[str, ...]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
