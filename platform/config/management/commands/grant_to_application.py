"""`manage.py grant_to_application ROLE`."""

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from surveys.batches.order_of_arrival import CLEANED

# The log grows, and its end moves on; nothing else happens to it. (Triggers refuse the rest to its owner as well.)
REFUSED = {"audit_entry": "UPDATE, DELETE, TRUNCATE", "audit_head": "DELETE, TRUNCATE", "audit_publishedhead": "UPDATE, DELETE, TRUNCATE"}


class Command(BaseCommand):
    help = (
        "Give a role of PostgreSQL what web, worker and beat need, and no more. Run it as the tables' owner after each migration. The role "
        "then reads and writes rows; it owns only the tables whose old rows it overwrites to hide the order of arrival. They have no "
        "triggers."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("role")

    def handle(self, *args: object, role: str, **options: object) -> None:
        if connection.vendor != "postgresql":
            raise CommandError("Only PostgreSQL has roles.")
        name = connection.ops.quote_name(role)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"GRANT USAGE, CREATE ON SCHEMA public TO {name}")
            cursor.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {name}")
            cursor.execute(f"GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO {name}")
            for table, refused in REFUSED.items():
                cursor.execute(f"REVOKE {refused} ON {table} FROM {name}")
            cursor.execute(f"REVOKE INSERT, UPDATE, DELETE ON django_migrations FROM {name}")
            for model in CLEANED:
                _hand_over(cursor, model._meta.db_table, name)
        self.stdout.write(f"{role} can read and write rows, and cannot change tables.")


def _hand_over(cursor: CursorWrapper, table: str, name: str) -> None:
    """Give the role a table and its partitions, down to the last."""
    cursor.execute(f"ALTER TABLE {connection.ops.quote_name(table)} OWNER TO {name}")
    cursor.execute(
        "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass(%s)",
        [connection.ops.quote_name(table)],
    )
    for (partition,) in cursor.fetchall():
        _hand_over(cursor, partition, name)
