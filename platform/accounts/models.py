"""The people who run studies. Participants are not users: they are known only by what surveys stores of them."""

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    """What a person may do; everybody has exactly one."""

    ADMINISTRATOR = "administrator", _("Administrator")
    INVESTIGATOR = "investigator", _("Investigator")
    IRB_OFFICER = "irb_officer", _("IRB officer")
    ANALYST = "analyst", _("Analyst")


class Accounts(UserManager["User"]):
    """`createsuperuser` makes an administrator: the role and Django's flag always agree."""

    use_in_migrations = False

    def create_superuser(self, username: str, email: str | None = None, password: str | None = None, **fields: Any) -> "User":
        return super().create_superuser(username, email, password, **{**fields, "role": Role.ADMINISTRATOR})


class User(AbstractUser):
    """A member of staff, with a role. Whoever is created without one gets the least: an analyst."""

    role = models.CharField(_("role"), max_length=16, choices=Role, default=Role.ANALYST)

    objects: ClassVar[Accounts] = Accounts()

    class Meta:
        verbose_name = _("user")
        verbose_name_plural = _("users")
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="every_user_has_a_known_role"),
            models.CheckConstraint(
                condition=models.Q(role=Role.ADMINISTRATOR, is_superuser=True)
                | models.Q(~models.Q(role=Role.ADMINISTRATOR), is_superuser=False),
                name="administrators_and_only_they_are_superusers",
            ),
        ]
