"""The words of every action on a study, and taking an action with what was typed or sent for it."""

from collections.abc import Mapping

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy

from surveys.access import Seat
from surveys.models import Study
from surveys.review.forms import DECISION_WORDS, Acknowledgement, Words
from surveys.studies.study_actions import open_action

WORDS: Mapping[str, Words] = {
    "submit": Words(label=gettext_lazy("Submit for review")),
    "amend": Words(label=gettext_lazy("Submit the changes for review, and pause recruiting until they are approved")),
    "renew": Words(label=gettext_lazy("Ask to renew the approval")),
    "take-back": Words(label=gettext_lazy("Take back from review")),
    "acknowledge": Words(label=gettext_lazy("I have read the conditions and will keep to them"), form=Acknowledgement),
    "launch": Words(
        label=gettext_lazy("Launch"),
        effect=gettext_lazy("Groups are drawn and people are taken in. The study can be paused later, but never be a draft again."),
        irreversible=True,
    ),
    "stop-launch": Words(label=gettext_lazy("Stop the launch")),
    "pause": Words(label=gettext_lazy("Pause recruiting")),
    "resume": Words(label=gettext_lazy("Resume recruiting")),
    "close": Words(
        label=gettext_lazy("Close the study for good"),
        effect=gettext_lazy("The study ends for everybody now and cannot be opened again. To stop for a while, pause it instead."),
        irreversible=True,
    ),
    "archive": Words(
        label=gettext_lazy("Archive"),
        effect=gettext_lazy("The study is marked as done with, for good."),
        irreversible=True,
    ),
    **DECISION_WORDS,
}


def take_action(seat: Seat, name: str, data: Mapping[str, object] | None = None) -> Study:
    """Take an action that is open to this person, with the typed or sent data. A TransitionError lists the open ones, a ValidationError the
    mistakes in `data`.
    """
    action = open_action(seat, name)
    form = WORDS[name].form(data or {})
    if not form.is_valid():
        raise ValidationError(form.errors.as_data())
    return action.take(seat.study, actor=seat.user, **form.cleaned_data)
