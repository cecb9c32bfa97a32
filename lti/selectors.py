"""Reading platforms, the cookies of a launch, and what a lecturer can choose."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.core import signing
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _

from lti.errors import LaunchError
from lti.models import BatchStatus, CreditBatch, Platform
from surveys.batches import rules
from surveys.credit.selectors import Place, fingerprint
from surveys.models import ENDED, CourseCredit, Study, StudyStatus

ASKED, STUDENT, LAST = "candor_lti", "candor_credit", "candor_student"
"""The cookies of a launch: one for each between its two requests, and those of the student afterwards. No page of a journey gets them."""
ASKED_SECONDS, STUDENT_SECONDS = 10 * 60, 12 * 60 * 60
MOST_DEPLOYMENTS = 100
"""Their numbers go into a cookie."""
_SALT = "lti.launch"


def platforms_named(issuer: str, client_id: str, deployment_id: str = "") -> list[Platform]:
    """The registered platform. A message need not name the deployment: then these are all that differ in it alone, and the platform's
    answer says which of them is meant.
    """
    found = Platform.objects.filter(issuer=issuer)
    found = found.filter(client_id=client_id) if client_id else found
    found = found.filter(deployment_id=deployment_id) if deployment_id else found
    platforms = list(found[:MOST_DEPLOYMENTS])
    if len({(one.client_id, one.login_address) for one in platforms}) != 1:
        values = {"issuer": issuer[:200] or "—", "client": client_id[:100] or "—", "deployment": deployment_id[:100] or "—"}
        raise LaunchError(
            _("Expected a course platform that is registered here, found %(issuer)s with client %(client)s and deployment %(deployment)s.")
            % values
        )
    return platforms


def sealed(value: Mapping[str, object], purpose: str) -> str:
    return signing.dumps(value, salt=f"{_SALT}.{purpose}", compress=True)


def opened(text: str, purpose: str, *, seconds: int) -> dict[str, Any] | None:
    """The value that was sealed for this purpose; None for what was not, or is too old."""
    try:
        return dict(signing.loads(text, salt=f"{_SALT}.{purpose}", max_age=seconds))
    except signing.BadSignature:
        return None


def asked_as(state: str) -> str:
    """The cookie of one question to a platform: two tabs may ask at once."""
    return f"{ASKED}_{state}"


def last_student(study: Study) -> str:
    """The cookie of the student who last came to this study in a browser: a keyed hash, which launches alone get."""
    return f"{LAST}_{study.pk}"


def sealed_place(place: Place, study: Study) -> str:
    return sealed(asdict(place) | {"study": study.pk}, "student")


def place_of(request: HttpRequest, study: Study) -> Place | None:
    """The student whom a course sent to this study in this browser."""
    found = opened(request.COOKIES.get(STUDENT, ""), "student", seconds=STUDENT_SECONDS)
    if found is None or found.pop("study") != study.pk:
        return None
    return Place(**found)


def studies_with_credit() -> QuerySet[Study]:
    """The studies that a lecturer can put into a course: approved, not over, and giving credit."""
    chosen = Study.objects.filter(course_credit__is_on=True, rehearsal_of=None)
    return chosen.exclude(status__in=(StudyStatus.DRAFT, StudyStatus.IN_REVIEW, *ENDED))


def given_up(study: Study) -> QuerySet[CreditBatch]:
    """The batches that no platform took, while their students are known."""
    return CreditBatch.objects.filter(study=study, status=BatchStatus.FAILED).exclude(places=[])


def credit_numbers(study: Study) -> dict[str, object]:
    """Whether the study gives credit, and how much was sent, in whole tens: a batch of the end may be of one student."""
    credit = CourseCredit.objects.filter(study=study).first()
    sent = CreditBatch.objects.filter(study=study, status=BatchStatus.SENT)
    return {
        "gives_credit": credit is not None and credit.is_on,
        "for_everybody": credit is None or credit.for_everybody,
        "key": fingerprint(credit.modulus) if credit else "",
        "sent": rules.in_tens(sum(sent.values_list("people", flat=True))),
        "given_up": rules.up_to_tens(sum(len(places) for places in given_up(study).values_list("places", flat=True))),
    }
