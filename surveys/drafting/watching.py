"""When people can go on from a lecture or recording: two inputs that are on the pages of the arms and of the thresholds."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surveys.definition import StudyDefinition
from surveys.drafting.forms import DraftForm, typed_value
from surveys.questions.stimuli import Watching

WATCHING = (
    ("required", gettext_lazy("Continue opens when a share of it has been watched or heard")),
    ("optional", gettext_lazy("Continue is open at once")),
)


def typed_watching(watching: Watching) -> dict[str, str]:
    return {"mode": watching.mode, "share": typed_value(round(watching.share * 100, 10))}


def read_watching(form: DraftForm, definition: StudyDefinition) -> dict[str, object]:
    """The typed share; the study's own where nothing plays, and so no input."""
    if not definition.plays:
        return definition.watching.model_dump()
    mode = form.choice("mode", [name for name, _label in WATCHING], missing=_("Choose when Continue opens."))
    percent = form.number("share", what=_("The share"), minimum=0, maximum=100, missing=_("Write how much must be watched, in percent."))
    return {"mode": mode, "share": None if percent is None else round(percent / 100, 12)}
