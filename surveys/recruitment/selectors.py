"""Reading who came in, and by which way."""

from urllib.parse import quote

from surveys.models import PanelMember, Participant
from surveys.tokens import panel_hash


def way_back(participant: Participant, *, code: str, completion_url: str) -> str:
    """The address that sends a panel member back, with their own number where it says {identifier}. `code` is their withdrawal code."""
    if "{identifier}" not in completion_url:
        return completion_url
    member = PanelMember.objects.filter(study_id=participant.study_id, panel_hash=panel_hash(code)).first()
    return completion_url.replace("{identifier}", quote(member.identifier, safe="") if member else "")
