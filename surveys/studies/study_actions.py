"""What a person can do with a study now: by its status, and by whether they own it or review it. The same for the page and the API."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django import forms
from django.core.exceptions import ValidationError
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from accounts.models import User
from surveys.errors import TransitionError
from surveys.models import RUNNING, Study, StudyStatus
from surveys.review import services as reviews
from surveys.selectors import may_change, may_review
from surveys.studies import services as studies
from surveys.studies.study_steps import conditions_wait

S = StudyStatus
LINES = forms.Textarea(attrs={"rows": 5})


class Nothing(forms.Form):
    """A step that needs no further words."""


class WithReason(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("The investigator reads it, and it stays in the record."),
        error_messages={"required": gettext_lazy("Give a reason: without one the investigator does not know what to do.")},
        max_length=5000,
        widget=LINES,
    )


class DecisionWithReason(WithReason):
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)


class Approval(forms.Form):
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    valid_until = forms.DateField(
        label=gettext_lazy("Last day of the approval"),
        help_text=gettext_lazy("At most five years from now; one year if left empty. Recruiting stops by itself after this day."),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    conditions = forms.CharField(
        label=gettext_lazy("Conditions, if any"),
        help_text=gettext_lazy(
            "The investigator has to acknowledge them before anybody is taken in. A study that recruits pauses until then."
        ),
        max_length=5000,
        required=False,
        widget=LINES,
    )
    reason = forms.CharField(
        label=gettext_lazy("Remarks, if any"),
        help_text=gettext_lazy("The investigator reads them, and they stay in the record."),
        max_length=5000,
        required=False,
        widget=LINES,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A step that is open while the study has one of these statuses and `when` holds. `form` asks for what has to be told with it, `effect`
    says what it does."""

    statuses: tuple[StudyStatus, ...]
    label: Promise
    take: Callable[..., Study]
    when: Callable[[Study], bool] = lambda study: True
    form: type[forms.Form] = Nothing
    effect: Promise | str = ""

    @property
    def needs_words(self) -> bool:
        return bool(self.form.base_fields)


def _submitted(study: Study) -> bool:
    return study.submitted_id is not None


OWNER_ACTIONS = {
    "submit": Action(statuses=(S.DRAFT,), label=gettext_lazy("Submit for review"), take=studies.submit_for_review),
    "amend": Action(
        statuses=RUNNING,
        label=gettext_lazy("Submit the changes for review, and pause recruiting until they are approved"),
        take=studies.submit_for_review,
        when=lambda study: not _submitted(study) and studies.is_amended(study),
    ),
    "renew": Action(
        statuses=RUNNING,
        label=gettext_lazy("Ask to renew the approval"),
        take=studies.submit_for_review,
        when=lambda study: not _submitted(study) and not studies.is_amended(study),
    ),
    "take-back": Action(
        statuses=(S.IN_REVIEW, *RUNNING),
        label=gettext_lazy("Take back from review"),
        take=studies.take_back,
        when=_submitted,
    ),
    "acknowledge": Action(
        statuses=(S.APPROVED, *RUNNING),
        label=gettext_lazy("I have read the conditions and will keep to them"),
        take=reviews.acknowledge_conditions,
        when=conditions_wait,
    ),
    "launch": Action(statuses=(S.APPROVED,), label=gettext_lazy("Launch"), take=studies.launch),
    "pause": Action(statuses=(S.RECRUITING,), label=gettext_lazy("Pause recruiting"), take=studies.pause),
    "resume": Action(
        statuses=(S.PAUSED,),
        label=gettext_lazy("Resume recruiting"),
        take=studies.resume,
        when=lambda study: not study.suspended,
    ),
    "close": Action(statuses=RUNNING, label=gettext_lazy("Close the study for good"), take=studies.close),
    "archive": Action(statuses=(S.CLOSED,), label=gettext_lazy("Archive"), take=studies.archive),
}
OFFICER_ACTIONS = {
    "approve": Action(
        statuses=(S.IN_REVIEW, *RUNNING),
        label=gettext_lazy("Approve"),
        take=reviews.approve,
        when=_submitted,
        form=Approval,
        effect=gettext_lazy("The investigator may launch or resume the study, under exactly this protocol."),
    ),
    "return": Action(
        statuses=(S.IN_REVIEW, *RUNNING),
        label=gettext_lazy("Ask for changes"),
        take=reviews.ask_for_changes,
        when=_submitted,
        form=DecisionWithReason,
        effect=gettext_lazy(
            "The investigator can change the protocol and submit it again. A running study keeps the approval that it has."
        ),
    ),
    "reject": Action(
        statuses=(S.IN_REVIEW, *RUNNING),
        label=gettext_lazy("Reject"),
        take=reviews.reject,
        when=_submitted,
        form=DecisionWithReason,
        effect=gettext_lazy("Exactly this protocol can never be submitted again. A running study keeps the approval that it has."),
    ),
    "suspend": Action(
        statuses=RUNNING,
        label=gettext_lazy("Suspend the study at once"),
        take=reviews.suspend,
        when=lambda study: not study.suspended,
        form=WithReason,
        effect=gettext_lazy("From this moment nobody new is taken in. Who has agreed already may finish. Only an officer can lift it."),
    ),
    "lift": Action(
        statuses=(S.PAUSED,),
        label=gettext_lazy("Lift the suspension"),
        take=reviews.lift_suspension,
        when=lambda study: study.suspended,
        form=WithReason,
        effect=gettext_lazy("The study stays paused until its investigator resumes it."),
    ),
}


def actions_of(study: Study, user: User) -> dict[str, Action]:
    """What this person can do with the study now, by name."""
    allowed = OWNER_ACTIONS if may_change(user, study) else OFFICER_ACTIONS if may_review(user, study) else {}
    return {name: action for name, action in allowed.items() if study.status in action.statuses and action.when(study)}


def take_action(study: Study, name: str, *, actor: User, data: Mapping[str, object] | None = None) -> Study:
    """Take a step that is open to this person; a TransitionError says which are, a ValidationError what is wrong with `data`."""
    open_now = actions_of(study, actor)
    if name not in open_now:
        raise TransitionError(
            gettext("This cannot be done now. The study may have changed in the meantime.")
            + f" “{name}”: expected {' or '.join(open_now) or 'nothing'}; the study is {study.get_status_display().lower()}."
        )
    form = open_now[name].form(data or {})
    if not form.is_valid():
        raise ValidationError(form.errors.as_data())
    return open_now[name].take(study, actor=actor, **form.cleaned_data)
