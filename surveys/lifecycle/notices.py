"""E-mails that tell people when it is their turn. Their pages say the same, so without a mail server people miss only the reminder."""

from collections.abc import Mapping
from enum import Enum, auto
from functools import partial

from django.conf import settings
from django.core.cache import cache
from django.core.mail import EmailMessage
from django.db import transaction
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from accounts.models import Role, User
from accounts.sending import send_later
from audit.actions import description_of
from audit.services import record
from surveys import actions
from surveys.access import Seat
from surveys.models import MemberRole, Study

COMMENTS_SECONDS = 60 * 60


class Audience(Enum):
    """Officers who may review the study, the one to whom it is assigned, or its owner and editors."""

    OFFICERS = auto()
    REVIEWER = auto()
    TEAM = auto()


def record_and_tell(
    audience: Audience, *, actor: User | None, action: str, study: Study, details: Mapping[str, object] | None = None, page: str = ""
) -> None:
    """As `record`, and after the commit a message to everybody else of the audience.

    It leads to `page`, or else to the page of the comment, or to the study's where nobody wrote. Comments are limited to one e-mail an
    hour.
    """
    record(actor=actor, action=action, subject=study, details=details)
    if settings.EMAIL_IS_CONFIGURED:
        page = page or ("surveys:review" if actor else "surveys:study")
        # E-mail is in the language of the site, whatever the sender reads.
        tell = partial(translation.override(settings.LANGUAGE_CODE)(_tell), audience, actor=actor, action=action, study=study, page=page)
        transaction.on_commit(tell, robust=True)


def _tell(audience: Audience, *, actor: User | None, action: str, study: Study, page: str) -> None:
    """E-mail can be read on its way, so it names the event and the study, and nothing that was written."""
    if action == actions.COMMENTED and not cache.add(f"told:{study.pk}:{audience.name}", True, COMMENTS_SECONDS):
        return
    text = "\n\n".join(
        (
            _("Study: %(title)s") % {"title": study.title},
            f"{description_of(action)}{f' ({actor.get_username()})' if actor else ''}.",
            f"{settings.SITE_URL}{reverse(page, args=[study.slug])}",
            _("You can stop these messages on the page of your account.") + f"\n{settings.SITE_URL}{reverse('account')}",
        )
    )
    subject = f"Candor: {' '.join(study.title.split())}"
    for user in _people(audience, study):
        if user != actor:
            send_later(EmailMessage(subject, text, to=[user.email]))


def _people(audience: Audience, study: Study) -> list[User]:
    reachable = User.objects.filter(is_active=True, wants_notices=True).exclude(email="")
    if audience is Audience.TEAM:
        editors = study.members.filter(role=MemberRole.EDITOR).values("user")
        return list(reachable.filter(pk=study.owner_id) | reachable.filter(pk__in=editors))
    if audience is Audience.REVIEWER:
        reachable = reachable.filter(pk__in=[study.reviewer_id])
    return [user for user in reachable.filter(role=Role.IRB_OFFICER) if Seat(user, study).may_review]
