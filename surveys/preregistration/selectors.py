"""Reading preregistrations."""

import json
from dataclasses import dataclass
from datetime import date

from surveys.models import Preregistration, Study
from surveys.preregistration.documents import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPlan:
    """The plan of one protocol version; `text` are the very characters whose SHA-256 was published."""

    version: int
    sha256: str
    registered_on: date
    text: str
    language: str = ""
    """The study's first language, of which its title and questions are."""

    @property
    def document(self) -> Plan:
        """The plan as plain values."""
        found: Plan = json.loads(self.text)
        return found


def plans_of(study: Study) -> list[KeptPlan]:
    """The preregistration and, after it, its amendments. Empty for studies that were approved before plans were kept."""
    kept = Preregistration.objects.filter(protocol__study=study).select_related("protocol").order_by("protocol__version")
    return [
        KeptPlan(
            version=one.protocol.version,
            sha256=one.sha256,
            registered_on=one.registered_on,
            text=one.document,
            language=one.protocol.definition.get("languages", ["en"])[0],
        )
        for one in kept
    ]
