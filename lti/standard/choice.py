"""The answer to a teacher's choice: LTI Deep Linking 2.0."""

import secrets
import time

from lti.models import Platform
from lti.standard.grades import MOST_POINTS
from lti.standard.keys import signed
from lti.standard.messages import CLAIM, DEEP_LINKING
from surveys.models import Study

ANSWER_SECONDS = 10 * 60


def answer_of(platform: Platform, study: Study, *, address: str, data: object) -> str:
    """A signed message that puts one link into the course, with a column for its credit. `data` is what the platform wants back."""
    now, title = int(time.time()), study.title
    item: dict[str, object] = {
        "type": "ltiResourceLink",
        "title": title,
        "url": address,
        "custom": {"study": study.slug},
        "lineItem": {"label": title, "scoreMaximum": MOST_POINTS, "resourceId": study.slug},
        "window": {"targetName": "_blank"},
    }
    claims: dict[str, object] = {
        "iss": platform.client_id,
        "aud": [platform.issuer],
        "iat": now,
        "exp": now + ANSWER_SECONDS,
        "nonce": secrets.token_urlsafe(24),
        f"{CLAIM}deployment_id": platform.deployment_id,
        f"{CLAIM}message_type": "LtiDeepLinkingResponse",
        f"{CLAIM}version": "1.3.0",
        f"{DEEP_LINKING}content_items": [item],
    }
    return signed(claims | ({f"{DEEP_LINKING}data": data} if data is not None else {}))
