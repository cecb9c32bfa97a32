"""A database's own refusal to change what must stay, for whoever goes around the models."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.db.backends.base.base import BaseDatabaseWrapper


@dataclass(frozen=True, slots=True)
class Trigger:
    """Refuses events on a table: PostgreSQL asks it for each row or each statement, SQLite always for each row."""

    name: str
    table: str
    events: str
    when: str = ""
    each: str = "ROW"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One sentence that a database says, and the triggers that say it. `function` is what PostgreSQL calls for them."""

    function: str
    sentence: str
    triggers: Mapping[str, Sequence[Trigger]]

    def install(self, connection: BaseDatabaseWrapper) -> None:
        """Refuse from now on; triggers that are there already are kept."""
        _execute(connection, self.statements(connection.vendor))

    def remove(self, connection: BaseDatabaseWrapper) -> None:
        """Refuse no more: for undoing a migration, and for tests that empty every table between them."""
        triggers = self.triggers[connection.vendor]
        if connection.vendor == "sqlite":
            _execute(connection, [f"DROP TRIGGER IF EXISTS {one.name}" for one in triggers])
        else:
            dropped = [f"DROP TRIGGER IF EXISTS {one.name} ON {one.table}" for one in triggers]
            _execute(connection, [*dropped, f"DROP FUNCTION IF EXISTS {self.function}()"])

    @contextmanager
    def lifted(self, connection: BaseDatabaseWrapper) -> Iterator[None]:
        """Refuse nothing inside this block."""
        self.remove(connection)
        yield
        self.install(connection)

    def statements(self, vendor: str) -> list[str]:
        """The SQL that makes the triggers, by kind of database."""
        triggers = self.triggers[vendor]
        if vendor == "sqlite":
            return [
                f"CREATE TRIGGER IF NOT EXISTS {one.name} BEFORE {one.events} ON {one.table} {_condition(one)} "
                f"BEGIN SELECT RAISE(ABORT, '{self.sentence}'); END"
                for one in triggers
            ]
        function = (
            f"CREATE OR REPLACE FUNCTION {self.function}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{self.sentence}' USING ERRCODE = 'integrity_constraint_violation'; END $$"
        )
        return [function] + [
            f"CREATE OR REPLACE TRIGGER {one.name} BEFORE {one.events} ON {one.table} "
            f"FOR EACH {one.each} {_condition(one)} EXECUTE FUNCTION {self.function}()"
            for one in triggers
        ]


def _condition(trigger: Trigger) -> str:
    return f"WHEN ({trigger.when})" if trigger.when else ""


def _execute(connection: BaseDatabaseWrapper, statements: Iterable[str]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
