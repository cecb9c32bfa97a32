"""Signals that surveys sends, without knowing who listens."""

from django.dispatch import Signal

# Sent after the commit of a participant's answers, with the `study` as the participant's request read it.
somebody_finished = Signal()
# Sent after the commit of a withdrawal, with `study_id`.
answers_changed = Signal()
# Sent inside the transaction of a withdrawal after which the counted people are others, with `study_id` and the `withdrawn` participant:
# stored results that saw the person must be deleted with them.
counted_people_changed = Signal()
# Sent inside the transaction that counts everybody, because nobody comes any more, with `study_id`.
everyone_counted = Signal()
# Sent after the numbers of people on their way were renewed, with `study_id`.
numbers_renewed = Signal()
# Sent on the day on which a study's operational data are to be deleted, with `study_id`: True asks to wait for results that need them,
# until the next hour of this day.
operational_data_are_due = Signal()
# Sent in the transaction that begins to delete a study's operational data, with `study_id`: stop work that uses them, keep no copy.
operational_data_forgotten = Signal()
