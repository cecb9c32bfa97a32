"""The signal that the log sends, without knowing who listens."""

from django.dispatch import Signal

# Sent inside the transaction that adds an entry to the log, with its `action` and its `subject`.
recorded = Signal()
