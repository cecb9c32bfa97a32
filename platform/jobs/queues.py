"""The queues of work. A worker takes all of them, or those that its installation names."""

from enum import StrEnum

from django.core.exceptions import ImproperlyConfigured

from candor.errors import what_came


class Queue(StrEnum):
    """Where the messages about a kind of work wait. Its names stand in CANDOR_QUEUES, in Redis and in the metrics."""

    FIRST = "first"
    """Short work, for which somebody waits: new results, questions under a budget, what every minute brings."""
    BOOTSTRAP = "bootstrap"
    """Long computations, most of them in chunks that any number of workers take."""
    FILES = "files"
    """Packages, frozen tables, and tidying up: memory and disk rather than time."""
    MAIL = "mail"
    """Everything that goes to other computers: only these workers need a way out."""


def queues_in(text: str) -> tuple[Queue, ...]:
    """The queues in a text such as `first, files`, each once; all of them if it says nothing."""
    named = list(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))
    if wrong := [name for name in named if name not in set(Queue)]:
        raise ImproperlyConfigured(
            f"CANDOR_QUEUES: expected some of {', '.join(Queue)}, with commas between them, found {what_came(wrong[0])}."
        )
    return tuple(queue for queue in Queue if not named or queue in named)
