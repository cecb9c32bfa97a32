"""The one step that is next in a study's life, for one person: the main button of its first page."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from surveys.access import Seat
from surveys.allocation.selectors import is_being_launched
from surveys.lifecycle.selectors import stopped_by
from surveys.lifecycle.steps import conditions_wait, obstacles_to_recruiting
from surveys.models import ENDED, Study, StudyStatus
from surveys.recruitment.selectors import waits_for_codes
from surveys.studies.forms import WORDS
from surveys.studies.readiness import ToDo
from surveys.studies.study_actions import actions_of


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """A sentence and a button, which opens a page or takes an action on the study."""

    sentence: str
    label: str
    page: str = ""
    action: str = ""


def next_step(seat: Seat, *, missing: list[ToDo]) -> NextStep:
    """`missing` lists what a draft needs before its review."""
    if seat.may_review and seat.study.submitted is not None:
        said = _("Version %(version)s waits for a decision.") % {"version": seat.study.submitted.version}
        return _page(seat, "surveys:protocol", _("Read the protocol"), said)
    if seat.may_change:
        return _own_step(seat, missing)
    if seat.may_see_results and seat.study.launched_on:
        return _page(seat, "analysis:results", _("See the results"), _how_it_stands(seat.study))
    return _page(seat, "surveys:protocol", _("Read the protocol"), _("The protocol says everything about this study."))


def _how_it_stands(study: Study) -> str:
    """A study that was launched, in a sentence for somebody who looks and changes nothing."""
    if study.status in ENDED:
        return _published(study)
    return _("Nobody is taken in while the study is paused.") if study.status == StudyStatus.PAUSED else _("The study takes people in.")


def _published(study: Study) -> str:
    if study.data_published:
        return _("The study is over, and its data are public.")
    return _("The study is over. Its answers can become public, protected by the die.")


def _own_step(seat: Seat, missing: list[ToDo]) -> NextStep:
    study = seat.study
    if missing:
        said = ngettext("One point is missing before the review.", "%(number)s points are missing before the review.", len(missing))
        return NextStep(sentence=said % {"number": len(missing)}, label=_("Go on with the design"), page=missing[0].address)
    if study.status == StudyStatus.DRAFT:
        sent_back = stopped_by(study)
        if sent_back is not None and sent_back.protocol.definition == study.definition:
            said = _("The officers sent the protocol back. Read their reason below.")
            return _page(seat, "surveys:build", _("Go on with the design"), said)
        return _action(seat, "submit", _("Everything is there that officers need."))
    if study.status in ENDED:
        if study.data_published:
            return _page(seat, "analysis:results", _("See the results"), _published(study))
        return _page(seat, "analysis:releases", _("Publish the data"), _published(study))
    if conditions_wait(study):
        return _action(seat, "acknowledge", _("The approval has conditions. Read them below."))
    if study.submitted is not None or study.suspended:
        return _page(seat, "surveys:review", _("See the review"), _("The next step is the officers’."))
    if obstacles := obstacles_to_recruiting(study):
        return _past(seat, obstacles[0])
    if is_being_launched(study):
        said = _("The list of groups is being drawn. The study opens by itself with its last line.")
        return _page(seat, "surveys:study", _("Look again"), said)
    if study.status == StudyStatus.APPROVED:
        return _action(seat, "launch", _("The study is approved."))
    if study.status == StudyStatus.PAUSED:
        return _action(seat, "resume", _("Nobody is taken in while the study is paused."))
    if waits_for_codes(study):
        said = _("The study takes people in, but each needs a personal code, and there is none yet.")
        return _page(seat, "surveys:codes", _("Make codes"), said)
    return _page(seat, "analysis:results", _("See the results"), _("The study takes people in."))


def _past(seat: Seat, obstacle: str) -> NextStep:
    """Past an obstacle to recruiting: an ended approval is asked for again, with changes if there are any; or the design changes."""
    asked = next((name for name in ("amend", "renew") if name in actions_of(seat)), "")
    if asked and seat.study.approved_until is not None and seat.study.approved_until < timezone.localdate():
        return _action(seat, asked, obstacle)
    return _page(seat, "surveys:build", _("Go on with the design"), obstacle)


def _page(seat: Seat, route: str, label: str, sentence: str) -> NextStep:
    return NextStep(sentence=sentence, label=label, page=reverse(route, args=[seat.study.slug]))


def _action(seat: Seat, name: str, sentence: str) -> NextStep:
    """One click takes the action, unless it has a page that says more first."""
    words = WORDS[name]
    if words.has_own_page:
        return NextStep(sentence=sentence, label=str(words.label), page=reverse("surveys:action", args=[seat.study.slug, name]))
    return NextStep(sentence=sentence, label=str(words.label), action=name)
