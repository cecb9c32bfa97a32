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

from candor.errors import what_came

IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{1,100}")
Said = str | Promise
WAY, JOIN = "way", "join"
"""The parameters of an address that name a way of a study with several, and the join code of a class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The data stored about a way in: for the officers' table, for the deletion at the end, and in words for participants."""

    what: Said
    how: Said
    why: Said
    deleted: Said
    told: Said


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A value that a panel writes into the address. It `goes_back` if the last page sends it there again; nothing of it is stored."""

    name: str
    pattern: re.Pattern[str]
    is_needed: bool = True
    goes_back: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WayIn:
    """`identifier_in` is the address's parameter with a person's number at the panel; `{identifier}` stands for this number in the address
    for the way back. `written` is the part of the address that the panel is told to fill in.
    """

    name: str
    label: Said
    admits: Said
    takes_code: bool = False
    takes_join_code: bool = False
    identifier_in: str = ""
    parameters: tuple[Parameter, ...] = ()
    study_in: str = ""
    """The parameter with the panel's own number of the study, if the address names it."""
    previews_by: tuple[str, str] = ("", "")
    """The parameter, and its value, by which the panel shows the study to people who have not accepted it yet."""
    one_number_everywhere: bool = False
    """Whether a number is the same person's at every way of this kind; otherwise each way has numbers of its own."""
    credits: bool = False
    """Whether the panel itself gives credit or money for taking part, so that a course gives none."""
    submits_to: tuple[str, ...] = ()
    """The sites to one of which the last page sends a form, where the panel wants one; the first by default."""
    submits_at: str = ""
    """The address there."""
    written: str = ""
    kept: Kept | None = None

    @property
    def is_panel(self) -> bool:
        return bool(self.identifier_in)


_TOLD = _(
    "A fingerprint of your number at the panel that sent you, in a list of its own. Only your withdrawal code connects it with your answers, and we do not have that code."  # noqa: E501
)


def _panel(name: str, label: str, *, number: re.Pattern[str] = IDENTIFIER, others: tuple[Parameter, ...] = (), **values: object) -> WayIn:
    """Each number comes in once. Its hash is kept for that; the browser carries the number itself, for the way back."""
    identifier_in = str(values["identifier_in"])
    return WayIn(
        name=name,
        label=label,
        admits=format_lazy(
            gettext_lazy("People sent by {panel}. A hash of their number there is kept apart from their answers."), panel=label
        ),
        parameters=(Parameter(name=identifier_in, pattern=number), *others),
        kept=Kept(
            what=format_lazy(gettext_lazy("Number at {panel}"), panel=label),
            how=gettext_lazy("only a keyed hash, in a table of its own"),
            why=gettext_lazy(
                "so that nobody takes part twice; only the withdrawal code, which the student alone has, leads from it to answers"
            ),
            deleted=format_lazy(gettext_lazy("hashes of numbers at {panel}"), panel=label),
            told=_TOLD,
        ),
        **values,  # type: ignore[arg-type]
    )


OPEN = WayIn(
    name="open", label=gettext_lazy("Open link: whoever has the address can take part"), admits=gettext_lazy("Everybody who has the link.")
)
CLASS = WayIn(
    name="class",
    label=gettext_lazy("Class: a short join code that is typed or scanned"),
    admits=gettext_lazy("Everybody who has the join code of the class. A new code can take its place at any time."),
    takes_join_code=True,
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
_OF_PROLIFIC = re.compile(r"[A-Za-z0-9]{24}")
PROLIFIC = _panel(
    "prolific",
    "Prolific",
    identifier_in="PROLIFIC_PID",
    number=_OF_PROLIFIC,
    others=tuple(Parameter(name=name, pattern=_OF_PROLIFIC, is_needed=False) for name in ("STUDY_ID", "SESSION_ID")),
    study_in="STUDY_ID",
    one_number_everywhere=True,
    credits=True,
    written="PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
)
SONA = _panel("sona", "SONA", identifier_in="survey_code", written="survey_code=%SURVEY_CODE%", credits=True)
_OF_AMAZON = re.compile(r"[A-Z0-9_]{20,64}")
MTURK = _panel(
    "mturk",
    "Mechanical Turk",
    identifier_in="workerId",
    number=re.compile(r"A[A-Z0-9]{9,30}"),
    others=(
        Parameter(name="assignmentId", pattern=_OF_AMAZON, goes_back=True),
        Parameter(name="hitId", pattern=_OF_AMAZON, is_needed=False),
        Parameter(name="turkSubmitTo", pattern=re.compile(r"https://(www|workersandbox)\.mturk\.com/?"), is_needed=False, goes_back=True),
    ),
    study_in="hitId",
    previews_by=("assignmentId", "ASSIGNMENT_ID_NOT_AVAILABLE"),
    one_number_everywhere=True,
    credits=True,
    submits_to=("https://www.mturk.com", "https://workersandbox.mturk.com"),
    submits_at="/mturk/externalSubmit",
    written="workerId=${workerId}&assignmentId=${assignmentId}&hitId=${hitId}",
)
QUALTRICS = _panel("qualtrics", "Qualtrics", identifier_in="ResponseID", written="ResponseID=${e://Field/ResponseID}")

WAYS_IN: Mapping[str, WayIn] = {one.name: one for one in (OPEN, CLASS, CODES, PROLIFIC, SONA, MTURK, QUALTRICS)}


def checked_way(name: str) -> str:
    """The name, if such a way exists."""
    if name not in WAYS_IN:
        *others, last = (f"'{one}'" for one in WAYS_IN)
        raise ValueError(f"expected {', '.join(others)} or {last}, got {what_came(name)}")
    return name
