"""Giving credit at a platform: its Assignment and Grade Services, version 2.0."""

import time
import uuid
from datetime import datetime
from http import HTTPStatus
from urllib.parse import SplitResult, urlencode, urlsplit, urlunsplit

from django.utils.translation import gettext as _

from lti.errors import PlatformError
from lti.models import Platform
from lti.standard.keys import signed
from lti.standard.outgoing import FORM, ask
from surveys.credit.selectors import Place

LINE_ITEM = "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem"
SCORE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
KINDS = "application/vnd.ims.lis.v2."
MOST_POINTS = 1


def access_token(platform: Platform) -> str:
    """Permission to write grades, which the platform gives to whoever signs with our key."""
    now = int(time.time())
    claims: dict[str, object] = {"iss": platform.client_id, "sub": platform.client_id, "aud": platform.token_address}
    assertion = signed(claims | {"iat": now - 5, "exp": now + 60, "jti": uuid.uuid4().hex})
    form = {
        "grant_type": "client_credentials",
        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        "client_assertion": assertion,
        "scope": f"{LINE_ITEM} {SCORE}",
    }
    answer = ask("POST", platform.token_address, kind=FORM, content=form)
    if not isinstance(answer, dict) or not isinstance(token := answer.get("access_token"), str):
        raise PlatformError(_("gave no access token"))
    return token


def give_point(place: Place, *, token: str, label: str, study: str, at: datetime) -> None:
    """Write the full score for one student, with this time stamp. Repeating it changes nothing. If the activity was deleted, the column of
    another one with this study takes it, where the same course has one.
    """
    try:
        _write_score(place.line_item or _line_item(place, token=token, label=label), place, token=token, at=at)
    except PlatformError as error:
        if error.status != HTTPStatus.NOT_FOUND or not (other := _column_of(study, place, token=token)):
            raise
        _write_score(other, place, token=token, at=at)


def _write_score(line_item: str, place: Place, *, token: str, at: datetime) -> None:
    score = {
        "userId": place.sub,
        "scoreGiven": MOST_POINTS,
        "scoreMaximum": MOST_POINTS,
        "activityProgress": "Completed",
        "gradingProgress": "FullyGraded",
        "timestamp": at.isoformat(timespec="milliseconds"),
    }
    ask("POST", _below(line_item, "scores"), token=token, kind="application/vnd.ims.lis.v1.score+json", content=score)


def _line_item(place: Place, *, token: str, label: str) -> str:
    """The column of the grade book that belongs to this activity; made if there is none yet."""
    found = next(iter(_columns(place, token=token, resource_link_id=place.link)), None)
    if found is None:
        item = {"label": label, "scoreMaximum": MOST_POINTS, "resourceLinkId": place.link}
        found = ask("POST", place.line_items, accept=f"{KINDS}lineitem+json", token=token, kind=f"{KINDS}lineitem+json", content=item)
    if not isinstance(found, dict) or not isinstance(address := found.get("id"), str):
        raise PlatformError(_("named no column of its grade book"))
    return address


def _column_of(study: str, place: Place, *, token: str) -> str:
    """The column that a teacher's choice of this study made in the same course; nothing if there is none."""
    columns = _columns(place, token=token, resource_id=study) if place.line_items else []
    own = (one["id"] for one in columns if isinstance(one, dict) and one.get("resourceId") == study and isinstance(one.get("id"), str))
    return next(own, "")


def _columns(place: Place, *, token: str, **which: str) -> list[object]:
    """The columns of the course's grade book, as far as the platform is asked for."""
    parts = _parts_of(place.line_items)
    query = "&".join(filter(None, (parts.query, urlencode(which))))
    there = ask("GET", urlunsplit(parts._replace(query=query)), accept=f"{KINDS}lineitemcontainer+json", token=token)
    return there if isinstance(there, list) else []


def _below(address: str, name: str) -> str:
    """The address of something below a line item, whose own address may have a query."""
    parts = _parts_of(address)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{name}"))


def _parts_of(address: str) -> SplitResult:
    """The parts of an address that the platform named."""
    try:
        return urlsplit(address)
    except ValueError as error:
        raise PlatformError(_("named an address that is none: %(address)s") % {"address": address[:80]}) from error
