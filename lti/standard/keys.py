"""The keys by which platforms know this installation: made on first use, renewed by administrators, published at `/lti/keys/`."""

import base64
import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from audit.services import record
from jobs.registry import routine
from lti import actions
from lti.errors import PlatformError
from lti.models import ToolKey
from surveys.credit.blind_signatures import new_key
from surveys.credit.keys import decrypted, encrypted
from surveys.errors import CreditError

if TYPE_CHECKING:  # the web starts without it
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

UNREADABLE = "unreadable"
"""The name of a key that was stored under another secret."""
USUAL_DAYS, MOST_DAYS = 14, 365
"""How long an earlier key stays published after a renewal, so that platforms which keep our keys for a while can check what it signed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownKey:
    """A published key, as administrators see it."""

    number: int
    kid: str
    made_on: object
    signs: bool
    withdrawn_at: datetime | None


def public_keys() -> dict[str, list[dict[str, str]]]:
    """The JSON Web Key Set: the key that signs, and the earlier ones that are not withdrawn."""
    signing = _signing()
    return {"keys": [_public(key) for one in (signing, *_earlier().exclude(pk=signing.pk)) if (key := _read(one)) is not None]}


def shown_keys() -> list[ShownKey]:
    """The published keys, the newest first; none before the first use."""
    return [
        ShownKey(number=key.pk, kid=kid_of(key), made_on=key.made_on, signs=key.signs, withdrawn_at=key.withdrawn_at)
        for key in (*ToolKey.objects.filter(signs=True), *_earlier())
    ]


def signed(claims: dict[str, object]) -> str:
    """A JSON Web Token with these claims, by the key that signs."""
    import jwt

    key = _read(_signing())
    if key is None:
        raise PlatformError(_("the key by which platforms know Candor cannot be read: an administrator makes a new one"))
    return jwt.encode(claims, key, algorithm="RS256", headers={"kid": _public(key)["kid"]})


@transaction.atomic
def renew_key(*, days: int = USUAL_DAYS, actor: User | None = None) -> ToolKey:
    """Sign with a new key from now on. Earlier ones stay published for at most so many days; with none, they are forgotten now."""
    list(ToolKey.objects.select_for_update().order_by("pk"))  # one renewal at a time
    there = list(ToolKey.objects.order_by("pk"))
    earlier: dict[str, object] = {"withdrawn": [kid_of(key) for key in there]}
    if days == 0:
        ToolKey.objects.all().delete()
    else:
        last = timezone.now() + timedelta(days=days)
        ToolKey.objects.filter(withdrawn_at=None).update(signs=False, withdrawn_at=last)
        earlier = {"published_until": {kid_of(key): key.withdrawn_at or last for key in there}}
    key = ToolKey.objects.create(private_key=encrypted(new_key()))
    record(actor=actor, action=actions.KEY_RENEWED, subject=key, details={"kid": kid_of(key), **earlier})
    return key


@transaction.atomic
def withdraw_key(number: int, *, actor: User | None = None) -> bool:
    """Publish an earlier key no longer, and forget it. The key that signs is not withdrawn: a new one must take its place."""
    key = ToolKey.objects.select_for_update().filter(pk=number, signs=False).first()
    if key is None:
        return False
    kid = kid_of(key)
    record(actor=actor, action=actions.KEY_WITHDRAWN, subject=key, details={"kid": kid})
    key.delete()
    return True


@routine(kind="platform_keys", every=timedelta(hours=1))
def withdraw_old_keys() -> None:
    """Forget the keys whose last day is over. They are no longer published from that moment on, whenever this runs."""
    for number in ToolKey.objects.filter(withdrawn_at__lte=timezone.now()).values_list("pk", flat=True):
        withdraw_key(number)


def kid_of(key: ToolKey) -> str:
    """The name of a key: its thumbprint (RFC 7638)."""
    return UNREADABLE if (read := _read(key)) is None else _public(read)["kid"]


def _signing() -> ToolKey:
    """The key that signs; the first one is made when it is needed, once, with its entry in the log."""
    if (found := ToolKey.objects.filter(signs=True).first()) is not None:
        return found
    with transaction.atomic():
        key, is_new = ToolKey.objects.get_or_create(signs=True, defaults={"private_key": lambda: encrypted(new_key())})
        if is_new:
            record(actor=None, action=actions.KEY_MADE, subject=key, details={"kid": kid_of(key)})
    return key


def _read(key: ToolKey) -> "RSAPrivateKey | None":
    """The key itself; None if it was stored under another secret of this installation. It is as good as lost then, and is renewed."""
    try:
        return decrypted(key.private_key)
    except CreditError:
        return None


def _earlier() -> QuerySet[ToolKey]:
    return ToolKey.objects.filter(Q(withdrawn_at=None) | Q(withdrawn_at__gt=timezone.now()), signs=False)


def _public(key: "RSAPrivateKey") -> dict[str, str]:
    """The public half as a JSON Web Key, named by its thumbprint (RFC 7638)."""
    numbers = key.public_key().public_numbers()
    n, e = (_text(number.to_bytes((number.bit_length() + 7) // 8)) for number in (numbers.n, numbers.e))
    thumbprint = hashlib.sha256(json.dumps({"e": e, "kty": "RSA", "n": n}, separators=(",", ":")).encode()).digest()
    return {"kty": "RSA", "n": n, "e": e, "alg": "RS256", "use": "sig", "kid": _text(thumbprint)}


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
