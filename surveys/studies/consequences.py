"""Sentences on the page of a step that cannot be undone: what it will do to this study, with its numbers."""

from collections.abc import Callable, Iterator, Mapping

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from surveys.allocation.services import are_few, first_lists
from surveys.counts import Counts
from surveys.definition import StudyDefinition
from surveys.lifecycle.steps import was_submitted
from surveys.models import Study
from surveys.protocols import protocol_in_force
from surveys.retention.selectors import day_of_forgetting, day_of_forgetting_if_closed_on


def consequences_of(study: Study, action: str, *, counts: Counts | None) -> list[str]:
    """The effects of the action, one sentence each; none for an action that can be undone."""
    say = CONSEQUENCES.get(action)
    return list(say(study, protocol_in_force(study).definition, counts)) if say else []


def _of_launch(study: Study, definition: StudyDefinition, counts: Counts | None) -> Iterator[str]:
    planned = definition.allocation.planned_participants
    yield _("A concealed list with the groups of %(planned)s people is drawn, and its fingerprint is published.") % {"planned": planned}
    if not are_few(first_lists(definition)):
        yield _("A list this long takes a worker some minutes. Its progress is shown, and the study opens by itself with the last line.")
    yield _("From then on these people are taken in: %(people)s") % {
        "people": " ".join(str(way.way.admits) for way in definition.entry.every_way)
    }
    yield _("Languages, arms, background questions, quiz, sensitive questions, die and allocation can never be changed again.")
    yield _("Consent and other texts can be changed only by an amendment that an IRB officer approves.")
    if study.approved_until:
        yield _("The approval ends on %(day)s.") % {"day": date_format(study.approved_until)}


def _of_closing(study: Study, definition: StudyDefinition, counts: Counts | None) -> Iterator[str]:
    if counts:
        yield _("Numbers in whole batches: %(consented)s agreed to take part, and %(finished)s answered, of %(planned)s planned.") % {
            "consented": counts.consented,
            "finished": counts.finished,
            "planned": definition.allocation.planned_participants,
        }
    yield _("Nobody is taken in any more, and people who have begun cannot finish: only finished answers count.")
    yield _("The whole allocation list is published. Blinded viewers see which arm is which.")
    day = day_of_forgetting_if_closed_on(study, timezone.localdate())
    yield _(
        "On %(day)s background answers, quiz answers, withdrawal codes and everything else that is not needed any more are deleted. "
        "Reported answers and counts stay."
    ) % {"day": date_format(day)}
    yield _("People can take their data out until then, or until the data are published.")
    if was_submitted(study):
        yield _("The version that waits for the IRB officers is given up.")


def _of_archiving(study: Study, definition: StudyDefinition, counts: Counts | None) -> Iterator[str]:
    yield _("Nothing is deleted by it, and nothing is published: results, releases and the log stay where they are.")
    day = day_of_forgetting(study)
    if study.forgotten_on is None and day is not None:
        yield _("Operational data are deleted on %(day)s all the same.") % {"day": date_format(day)}
    if counts:
        yield _("People who answered: %(finished)s.") % {"finished": counts.finished}


CONSEQUENCES: Mapping[str, Callable[[Study, StudyDefinition, Counts | None], Iterator[str]]] = {
    "launch": _of_launch,
    "close": _of_closing,
    "archive": _of_archiving,
}
