"""The ways into a study: the address's parameters, the stored data, and the words about them. A new way is one more entry here.

The study file, the builder, the welcome page, the protocol packet and the page about a study read it; `surveys.recruitment` acts on it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy
from django.utils.translation import gettext_lazy as _  # for participants, so with a translation

IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{1,100}")
Said = str | Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The data stored about a way in: for the officers' table, for the deletion at the end, and in words for participants."""

    what: Said
    how: Said
    why: Said
    deleted: Said
    told: Said


@dataclass(frozen=True, slots=True, kw_only=True)
class WayIn:
    """`identifier_in` is the address's parameter with a person's number at the panel; `{identifier}` stands for this number in the address
    for the way back.
    """

    name: str
    label: Said
    admits: Said
    takes_code: bool = False
    identifier_in: str = ""
    kept: Kept | None = None

    def identifier(self, address: Mapping[str, str]) -> str:
        """The person's identifier in the address, if this way in uses one."""
        return address.get(self.identifier_in, "") if self.identifier_in else ""


def _panel(name: str, label: str, *, identifier_in: str, told: Said) -> WayIn:
    """Each number comes in once. It is kept for the way back, where only the withdrawal code leads from it to answers."""
    return WayIn(
        name=name,
        label=label,
        admits=format_lazy(gettext_lazy("People sent by {panel}. Their number there is kept apart from their answers."), panel=label),
        identifier_in=identifier_in,
        kept=Kept(
            what=format_lazy(gettext_lazy("Number at {panel}"), panel=label),
            how=gettext_lazy("yes, in a table of its own"),
            why=gettext_lazy(
                "so that nobody takes part twice and all are paid; only the withdrawal code, which the student alone has, leads from it "
                "to answers"
            ),
            deleted=gettext_lazy("numbers at the panel"),
            told=told,
        ),
    )


OPEN = WayIn(
    name="open", label=gettext_lazy("Open link: whoever has the address can take part"), admits=gettext_lazy("Everybody who has the link.")
)
CODES = WayIn(
    name="codes",
    label=gettext_lazy("Personal codes: each opens the study once"),
    admits=gettext_lazy("Anybody who has a personal code. A code opens the study once; nothing says whose answers came in with it."),
    takes_code=True,
    kept=Kept(
        what=gettext_lazy("Personal code"),
        how=gettext_lazy("only that it was used"),
        why=gettext_lazy("so that it opens the study once; without a link to answers"),
        deleted=gettext_lazy("personal codes"),
        told=_("That your entry code was used, in a list of its own. Nothing leads from there to your answers."),
    ),
)
_TOLD = _(
    "Your Prolific or SONA number, in a list of its own. Only your withdrawal code connects it with your answers, and we do not have that code."  # noqa: E501
)
PROLIFIC = _panel("prolific", "Prolific", identifier_in="PROLIFIC_PID", told=_TOLD)
SONA = _panel("sona", "SONA", identifier_in="survey_code", told=_TOLD)

WAYS_IN: Mapping[str, WayIn] = {one.name: one for one in (OPEN, CODES, PROLIFIC, SONA)}


def checked_way(name: str) -> str:
    """The name, if such a way exists."""
    if name not in WAYS_IN:
        *others, last = (f"'{one}'" for one in WAYS_IN)
        raise ValueError(f"Input should be {', '.join(others)} or {last}, got {name!r}")
    return name
