"""Storing the lines of a list, of which there may be a million."""

from collections.abc import Iterable

from django.db import connection

from surveys.models import AllocationSlot

FIELDS = tuple(field for field in AllocationSlot._meta.concrete_fields if not field.primary_key)


def store_lines(lines: Iterable[AllocationSlot]) -> None:
    """Store new lines: by COPY in PostgreSQL, which takes a tenth of the time of INSERT."""
    if connection.vendor != "postgresql":
        AllocationSlot.objects.bulk_create(lines, batch_size=1000)
        return
    quoted = connection.ops.quote_name
    columns = ", ".join(quoted(field.column) for field in FIELDS)
    names = [field.attname for field in FIELDS]
    with connection.cursor() as cursor, cursor.copy(f"COPY {quoted(AllocationSlot._meta.db_table)} ({columns}) FROM STDIN") as copy:
        for line in lines:
            copy.write_row([getattr(line, name) for name in names])
