"""What surveys tells to whoever listens, without knowing who does."""

from django.dispatch import Signal

# Sent after the commit of a participant's answers, or of a withdrawal, with `study_id`.
answers_changed = Signal()
