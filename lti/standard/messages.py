"""Messages of platforms: asked for with a secret of this browser, signed by the platform, believed once (LTI 1.3, OpenID Connect).

Only what opens the door is taken out of a message: the platform's number of the student, whether they learn or teach, and where credit
goes. Names and e-mail addresses are not read.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.core.cache import cache
from django.utils.translation import gettext as _

from lti.errors import LaunchError
from lti.models import Platform
from lti.standard.outgoing import ask
from surveys.credit.selectors import Place

if TYPE_CHECKING:
    from jwt import PyJWK

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
DEEP_LINKING = "https://purl.imsglobal.org/spec/lti-dl/claim/"
GRADES = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
LEARNER = "membership#Learner"
LAUNCH, CHOICE = "LtiResourceLinkRequest", "LtiDeepLinkingRequest"
LEEWAY_SECONDS = 60
LONGEST_TEXT, LONGEST_DATA = 500, 10_000
KEYS_SECONDS = 60 * 60
ASK_AGAIN_SECONDS = 60
REMEMBERED_SECONDS = 24 * 60 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """The statements of a platform about one opening of an activity."""

    platform: Platform
    place: Place
    is_learner: bool
    study: str
    chooses: bool = False
    return_address: str = ""
    data: object = None


def checked(platforms: Sequence[Platform], id_token: str, *, nonce: str) -> Launch:
    """The content of the message, if the platform signed it for us, for this browser, now, and for the first time. The platform
    is the one of `platforms` whose deployment the message names.
    """
    platform = _meant(platforms, id_token)
    claims = _believed(platform, id_token)
    if claims.get("nonce") != nonce:
        raise LaunchError(_("The message of your course is not the answer to the question of this browser."))
    for name, expected in (("deployment_id", platform.deployment_id), ("version", "1.3.0")):
        if claims.get(CLAIM + name) != expected:
            values = {"name": name, "expected": expected, "found": str(claims.get(CLAIM + name))[:100]}
            raise LaunchError(_("Expected the %(name)s %(expected)s, found %(found)s.") % values)
    kind = claims.get(f"{CLAIM}message_type")
    if kind not in (LAUNCH, CHOICE):
        values = {"launch": LAUNCH, "choice": CHOICE, "found": str(kind)[:100]}
        raise LaunchError(_("Expected a message %(launch)s or %(choice)s, found %(found)s.") % values)
    used = hashlib.sha256(f"{platform.pk} {nonce}".encode()).hexdigest()
    if not cache.add(f"lti-message-{used}", 1, REMEMBERED_SECONDS):
        raise LaunchError(_("This message of your course was used before."))
    return _launch(platform, claims, chooses=kind == CHOICE)


def _launch(platform: Platform, claims: Mapping[str, object], *, chooses: bool) -> Launch:
    grades, link, asked = (_part(claims, name) for name in (GRADES, f"{CLAIM}resource_link", f"{DEEP_LINKING}deep_linking_settings"))
    roles, data = claims.get(f"{CLAIM}roles") or [], asked.get("data")
    if len(json.dumps(data)) > LONGEST_DATA:
        raise LaunchError(_("Expected at most %(most)s characters as %(name)s.") % {"most": LONGEST_DATA, "name": "data"})
    place = Place(
        platform=platform.pk,
        issuer=platform.issuer,
        sub=_said(claims, "sub"),
        line_item=_said(grades, "lineitem"),
        line_items=_said(grades, "lineitems"),
        link=_said(link, "id"),
    )
    return Launch(
        platform=platform,
        place=place,
        is_learner=isinstance(roles, list) and any(str(role).endswith((LEARNER, "/Learner")) or role == "Learner" for role in roles),
        study=_said(_part(claims, f"{CLAIM}custom"), "study"),
        chooses=chooses,
        return_address=_said(asked, "deep_link_return_url"),
        data=data,
    )


def _meant(platforms: Sequence[Platform], id_token: str) -> Platform:
    """The deployment that the message names. Nothing is believed yet: this platform's keys and names are what the message is held to."""
    import jwt

    first, *others = platforms
    if not others:
        return first
    try:
        said = jwt.decode(id_token, options={"verify_signature": False}).get(f"{CLAIM}deployment_id")
    except (jwt.PyJWTError, RecursionError) as error:
        raise LaunchError(_("The message of your course is not rightly signed: %(problem)s.") % {"problem": error}) from error
    return next((one for one in platforms if one.deployment_id == said), first)


def _believed(platform: Platform, id_token: str) -> dict[str, object]:
    import jwt

    try:
        header = jwt.get_unverified_header(id_token)
        key = _key(platform, str(header.get("kid", "")))
        claims = jwt.decode(
            id_token,
            key,
            algorithms=["RS256"],
            audience=platform.client_id,
            issuer=platform.issuer,
            leeway=LEEWAY_SECONDS,
            options={"require": ["exp", "iat", "nonce"]},
        )
    except jwt.ExpiredSignatureError as error:
        raise LaunchError(_("The message of your course is too old.")) from error
    except jwt.PyJWTError as error:
        raise LaunchError(_("The message of your course is not rightly signed: %(problem)s.") % {"problem": error}) from error
    try:
        json.dumps(claims, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:  # half a character: it can be neither stored nor shown
        raise LaunchError(_("The message of your course is not rightly signed: %(problem)s.") % {"problem": error.reason}) from error
    audience = claims["aud"]
    several = isinstance(audience, list) and len(audience) > 1
    if claims.get("azp", None if several else platform.client_id) != platform.client_id:
        raise LaunchError(_("The message of your course is for somebody else."))
    return claims


def _key(platform: Platform, kid: str) -> "PyJWK":
    """The platform's key of this name. Keys are kept for an hour, those of another address are others; for an unknown name they are asked
    for again, once a minute.
    """
    import jwt

    kept = f"lti-keys-{platform.pk}-{hashlib.sha256(platform.keys_address.encode()).hexdigest()[:16]}"
    keys = cache.get(kept)
    if keys is None or (kid not in keys and cache.add(f"{kept}-asked", 1, ASK_AGAIN_SECONDS)):
        answer = ask("GET", platform.keys_address)
        found = answer.get("keys") if isinstance(answer, dict) else None
        listed = found if isinstance(found, list) else ()
        keys = {str(one.get("kid", "")): one for one in listed if isinstance(one, dict) and one.get("kty") == "RSA"}
        cache.set(kept, keys, KEYS_SECONDS)
    if kid not in keys:
        raise LaunchError(_("The message of your course is signed with a key that its platform does not publish."))
    return jwt.PyJWK.from_dict(keys[kid] | {"alg": "RS256"})


def _part(claims: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = claims.get(name)
    return found if isinstance(found, dict) else {}


def _said(claims: Mapping[str, object], name: str) -> str:
    found = claims.get(name, "")
    if not isinstance(found, str) or len(found) > LONGEST_TEXT:
        raise LaunchError(_("Expected at most %(most)s characters as %(name)s.") % {"most": LONGEST_TEXT, "name": name})
    return found
