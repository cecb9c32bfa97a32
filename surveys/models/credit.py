"""Credit for taking part, given by a course platform. No table here has a link to a participant, and the two sides never write at the same
moment: a participant's row says that its credit was signed, the book says later who handed in some credit.
"""

from django.db import models
from django.utils.translation import gettext_lazy as _

from surveys.models.studies import Study


class CourseCredit(models.Model):
    """A study that gives credit, and the one key that signs it for all, so that a signature tells nothing but the study."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, primary_key=True, related_name="course_credit")
    is_on = models.BooleanField(default=True)
    for_everybody = models.BooleanField(
        _("also for those who do not take part"),
        default=True,
        help_text=_("Otherwise people who would rather not take part lose the credit, which is pressure."),
    )
    private_key = models.TextField(help_text="Encrypted; empty once operational data are deleted.")
    modulus = models.TextField(help_text="The public key, in hexadecimal digits.")

    def __str__(self) -> str:
        return f"credit of {self.study}"


class CreditBook(models.Model):
    """All credit of a study that was handed in: sets in one row, so that they have one age and no order, and none leads to another."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, primary_key=True, related_name="credit_book")
    spent = models.JSONField(default=list, help_text="Hashes of the tokens and codes that were handed in, sorted.")
    people = models.JSONField(default=list, help_text="Keyed hashes of the people who have had their credit, sorted.")
    waiting = models.JSONField(default=list, help_text="The places at the course platform to which credit is sent next, sorted.")

    def __str__(self) -> str:
        return f"{len(self.waiting)} waiting"
