"""Functions that see each statement of this process: `config.metrics` counts statements, `config.traces` times them."""

from collections.abc import Callable
from functools import partial

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

Execute = Callable[..., object]
Look = Callable[[Execute, str, object, bool, object], object]


def look_at_statements(look: Look, *, name: str) -> None:
    """From now on, each connection of this process sends its statements through `look`."""
    connection_created.connect(receiver := partial(_look_from_now_on, look), weak=False, dispatch_uid=name)
    if connection.connection is not None:
        receiver(connection=connection)


def _look_from_now_on(look: Look, *, connection: BaseDatabaseWrapper, **_arguments: object) -> None:
    if look not in connection.execute_wrappers:
        connection.execute_wrappers.append(look)
