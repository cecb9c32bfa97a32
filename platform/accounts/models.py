"""The people who run studies. Participants are not users: Candor knows them only from the tables of surveys."""

import hashlib
from typing import ClassVar, cast

from django.contrib.auth.models import AbstractUser, UserManager
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.dispatch import Signal
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.names import LONGEST_SKELETON, reason_against, skeleton


class Role(models.TextChoices):
    """The set of rights of a person; everybody has exactly one role."""

    ADMINISTRATOR = "administrator", _("Administrator")
    INVESTIGATOR = "investigator", _("Investigator")
    IRB_OFFICER = "irb_officer", _("IRB officer")
    ANALYST = "analyst", _("Analyst")


class Language(models.TextChoices):
    """The language of the staff's pages that are there in several."""

    BROWSER = "", _("The language of my browser")
    ENGLISH = "en", _("English")
    GERMAN = "de", _("German")


administrator_made = Signal()
"""Somebody made an administrator on the server's command line. Arguments: `user`. Sent in the same transaction."""


class Accounts(UserManager["User"]):
    """`createsuperuser` makes an administrator: the role and Django's flag always agree."""

    use_in_migrations = False

    def create_superuser(self, username: str, email: str | None = None, password: str | None = None, **fields: object) -> "User":
        asked = self.model(username=username)  # Django's command checks single fields only
        asked.clean()
        asked.validate_unique()
        with transaction.atomic(using=self.db):
            user = super().create_superuser(username, email, password, **{**fields, "role": Role.ADMINISTRATOR})
            administrator_made.send(type(user), user=user)
        return user


class SkeletonField(models.CharField):  # type: ignore[type-arg]
    """The look of the user's name; it follows the name as `auto_now` follows the clock."""

    def pre_save(self, model_instance: models.Model, add: bool) -> object:
        user = cast(User, model_instance)
        user.skeleton = skeleton(user.username)
        return user.skeleton


class User(AbstractUser):
    """A member of staff, with a role. The default is the role with the fewest rights: analyst."""

    session_epoch = models.PositiveIntegerField(default=0, editable=False, help_text="A session of an earlier epoch is over.")
    wants_notices = models.BooleanField(default=True, help_text="Whether to be told by e-mail when it is their turn.")
    language = models.CharField(max_length=5, choices=Language, blank=True, default=Language.BROWSER, db_default=Language.BROWSER)
    role = models.CharField(_("role"), max_length=16, choices=Role, default=Role.ANALYST)
    # Null: an account from before this rule, whose name looks like that of an older account.
    skeleton = SkeletonField(max_length=LONGEST_SKELETON, unique=True, null=True, editable=False)
    name_may_be_reserved = False
    """Set while the demonstration makes its people."""

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

    def clean(self) -> None:
        """A new name is of one alphabet, promises no office, and looks like nobody else's. Older names stay as they are."""
        super().clean()
        if User.objects.filter(pk=self.pk, username=self.username).exists():
            return
        reason = reason_against(self.username, may_be_reserved=self.name_may_be_reserved)
        # A name that is taken, letter by letter, is reported by the field itself.
        others = User.objects.filter(skeleton=skeleton(self.username)).exclude(pk=self.pk).exclude(username=self.username)
        if reason is None and others.exists():
            reason = gettext("This name looks like that of another account. Choose another one.")
        if reason:
            raise ValidationError({"username": reason})

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """The part of an account that a session remembers; a new password or epoch changes it and ends the session."""
        return salted_hmac("accounts.session", f"{self.session_epoch} {self.password}", secret=secret, algorithm="sha256").hexdigest()


class TokenScope(models.TextChoices):
    READ = "read", _("Read")
    WRITE = "write", _("Read and write, but spend no privacy budget")
    ANALYTICS_READ = "analytics:read", _("Read the answers and the ledgers of privacy budgets, and nothing else")
    ANALYTICS_SPEND = "analytics:spend", _("Spend privacy budgets: ask questions, and nothing else")


ANALYTICS_READING = (*TokenScope,)
"""The scopes for addresses of privacy budgets that only read."""
ANALYTICS_SPENDING = (TokenScope.ANALYTICS_SPEND,)
"""A spent budget never comes back, so a token can spend only if it was made for that."""


class ApiToken(models.Model):
    """Programs show a token in place of a password. Only its hash is kept; its bearer can do what its owner can, within the scope."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=50, help_text="Its purpose, in its owner's words.")
    scope = models.CharField(max_length=15, choices=TokenScope, default=TokenScope.READ)
    token_hash = models.CharField(max_length=64, unique=True)
    created_on = models.DateField(auto_now_add=True)
    last_day = models.DateField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(scope__in=TokenScope.values), name="every_token_has_a_known_scope"),
            models.UniqueConstraint(fields=("user", "name"), name="name_of_a_token_is_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.user}: {self.scope}"


class AttemptCount(models.Model):
    """How often something was tried, until its quarter of an hour ends. The key tells neither a name nor a place."""

    key = models.CharField(max_length=64, primary_key=True)
    number = models.PositiveSmallIntegerField(default=0)
    ends_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.number} until {self.ends_at:%H:%M}"


class KeptAnswer(models.Model):
    """The answer to a request of a program with an `Idempotency-Key`, to be given again. It can be read only with the key that was sent.

    Its name is keyed too, so that the table tells neither keys nor addresses nor how often a program asked the same.
    """

    name = models.CharField(max_length=64, primary_key=True)
    account = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    fingerprint = models.CharField(max_length=64, help_text="The request, keyed.")
    sealed = models.BinaryField()
    kept_on = models.DateField(db_index=True)

    def __str__(self) -> str:
        return f"an answer to {self.account}"


def hash_of_api_token(token: str) -> str:
    """The hash of a token that the database keeps; 256 random bits need no salt."""
    return hashlib.sha256(token.encode()).hexdigest()
