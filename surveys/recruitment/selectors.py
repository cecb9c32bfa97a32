"""Finds panel members again, which requires a withdrawal code."""

from urllib.parse import quote

from django.db.models import QuerySet

from surveys.models import PanelMember
from surveys.tokens import panel_hash


def panel_member(study_id: int, withdrawal_code: str) -> QuerySet[PanelMember]:
    """The panel member to whom this code belongs, if any."""
    return PanelMember.objects.filter(study_id=study_id, panel_hash=panel_hash(withdrawal_code))


def way_back(study_id: int, *, withdrawal_code: str, completion_url: str) -> str:
    """The address that sends a person back, with their number at the panel where it says {identifier}."""
    if "{identifier}" not in completion_url:
        return completion_url
    member = panel_member(study_id, withdrawal_code).first()
    return completion_url.replace("{identifier}", quote(member.identifier, safe="") if member else "")
