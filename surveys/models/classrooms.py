"""The rooms of classes that try the die together."""

from django.db import models


class ClassRoom(models.Model):
    """Counts of one class for one day, and nothing about a person: neither who answered nor when.

    A count is a pair of people and yes answers, for each half of the class. `waiting` counts those who came since the last of the
    `batches`, and is shown to nobody.
    """

    code = models.CharField(max_length=6, primary_key=True)
    question = models.CharField(max_length=20)
    opened_on = models.DateField()
    waiting = models.JSONField(default=list)
    batches = models.JSONField(default=list)

    def __str__(self) -> str:
        return self.code
