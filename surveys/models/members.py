"""People who work on a study beside its owner, and invitations to do so."""

from typing import Protocol

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from surveys.models.studies import Study


class MemberRole(models.TextChoices):
    """The rights of somebody who was invited to a study. Its owner is not a member: the study says who that is."""

    EDITOR = "editor", _("Editor")
    VIEWER = "viewer", _("Viewer")
    BLINDED_VIEWER = "blinded_viewer", _("Blinded viewer")
    ANALYST = "analyst", _("Analyst")


class StudyMember(models.Model):
    """Somebody with whom a study is shared."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=MemberRole)

    class Meta:
        ordering = ("study", "user__username")
        constraints = (
            models.UniqueConstraint(fields=("study", "user"), name="one_membership_of_a_person_in_a_study"),
            models.CheckConstraint(condition=models.Q(role__in=MemberRole.values), name="every_member_has_a_known_role"),
        )

    def __str__(self) -> str:
        return f"{self.user}: {self.get_role_display()}"


class Titled(Protocol):
    """A study or a data set."""

    @property
    def title(self) -> str: ...


class InvitationLink(models.Model):
    """An offer that is good for anybody who holds the link, or only for `user` if there is one. Only the hash of the link is kept."""

    addressee = models.CharField(max_length=254, help_text="An e-mail address, or the name of an account.")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    token_hash = models.CharField(max_length=64, unique=True)
    last_day = models.DateField()
    accepted = models.BooleanField(default=False)
    withdrawn = models.BooleanField(default=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.addressee}: {self.get_role_display()}"

    @property
    def whole(self) -> Titled:
        """The study or data set of the invitation; it has a title and an owner."""
        raise NotImplementedError

    def get_role_display(self) -> str:
        raise NotImplementedError


class Invitation(InvitationLink):
    """An offer to share a study."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=16, choices=MemberRole)

    class Meta:
        ordering = ("study", "addressee")
        constraints = (
            models.CheckConstraint(condition=models.Q(role__in=MemberRole.values), name="every_invitation_has_a_known_role"),
            models.CheckConstraint(condition=~models.Q(accepted=True, withdrawn=True), name="an_accepted_invitation_is_not_withdrawn"),
        )

    @property
    def whole(self) -> Study:
        return self.study
