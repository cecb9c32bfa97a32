"""Setting the limit of privacy loss."""

from math import isfinite

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from accounts.models import User
from audit.services import record
from surveys import actions
from surveys.models import PrivacyLimit
from surveys.privacy.limits import limit


@transaction.atomic
def set_limit(epsilon: float, *, actor: User) -> PrivacyLimit:
    """From now on an approval above this total ε needs a reason. Earlier approvals stay."""
    if not (isfinite(epsilon) and 0 < epsilon <= settings.LARGEST_EPSILON):
        expected = _("Expected a number above 0 and at most %(most)s, found %(found)s.")
        raise ValidationError(expected % {"most": number_format(settings.LARGEST_EPSILON), "found": number_format(epsilon)})
    before = limit()
    newest = PrivacyLimit.objects.create(epsilon=epsilon, set_by=actor, set_on=timezone.localdate())
    record(actor=actor, action=actions.PRIVACY_LIMIT_SET, subject=newest, details={"epsilon": epsilon, "before": before})
    return newest
