"""The one address of a study: the page of each participant's step, and the form it accepts.

Stored state decides which page it is, never the address. `Invalid` sends the page back with what was typed and what is wrong.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from surveys.credit.selectors import COMPLETED, gives_credit, has_other_credit, ticket_for
from surveys.errors import StepOutOfOrderError, StudyClosedError
from surveys.journey import services as participation
from surveys.journey import visitors
from surveys.journey.comprehension import checked, first_checks
from surveys.journey.fields import OF_THE_PAGE, FieldView, arranged
from surveys.journey.forms import errors_of, read_direct_answers, read_fields, read_responses, settled
from surveys.journey.language import language_of
from surveys.journey.newcomers.views import named_in, newcomer
from surveys.journey.pages import SharedContext, as_next_page, can_show_next_page, let_send_to, own_page, shared_page
from surveys.journey.participant_store import read_study
from surveys.journey.presentation import Presentation, presentation
from surveys.journey.services import AlreadyDoneError
from surveys.journey.steps import BACKGROUND, DIE, DIRECT_CONSENT, DIRECT_QUESTIONS, FINISHED, QUESTIONS, QUIZ, VIDEO, comes_before
from surveys.journey.stimuli import KINDS, StimulusView
from surveys.journey.visitors import require_own, to_journey
from surveys.models import RUNNING, Participant
from surveys.protocols import frozen_protocol, protocol_in_force
from surveys.questions.sections import SECTION
from surveys.recruitment.arrivals import Ended, WayBack, arrival_in, is_credited_elsewhere, names_another, way_back
from surveys.recruitment.services import count_end
from surveys.tokens import completion_code, hash_of_token, mark_of, return_ticket, withdrawal_code


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A participant on their way, with the texts of their language."""

    token: str
    participant: Participant
    shown: Presentation
    is_bot: bool
    absolute: Callable[[str], str]
    """The whole address of a path of this site."""


class Invalid(Exception):  # noqa: N818  (not an error of the program: the page comes back)
    """The sent form is refused; `context` fills the page with the reason."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY

    def __init__(self, **context: object) -> None:
        self.context = context


class Unfinished(Invalid):
    """Nothing is wrong: the same step has more to ask, and stores nothing before that."""

    status = HTTPStatus.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPage:
    """`shared` makes the context from the protocol's texts and the `variant` alone; `fields` are the page's in this person's order, and
    `personal` their few strings.
    """

    take: Callable[[QueryDict, Person], None] | None
    variant: Callable[[Person], Hashable] = lambda person: None
    shared: SharedContext = lambda shown, variant: {}
    fields: Callable[[Person], tuple[FieldView, ...]] = lambda person: ()
    personal: Callable[[Person], dict[str, str]] = lambda person: {}

    def context(self, person: Person) -> dict[str, object]:
        return {**self.values(person), "fields": self.fields(person), **self.shared(person.shown, self.variant(person))}

    def values(self, person: Person) -> dict[str, str]:
        return {**self.personal(person), **_own_values(person)}


def _background_fields(person: Person) -> tuple[FieldView, ...]:
    """The questions for everybody, with the section that the person's link named; those that wait for answers come after them."""
    section = str(person.participant.background.get(SECTION, "")) if person.shown.sections else ""
    fields = [replace(field, value=section) if field.key == SECTION else field for field in person.shown.background if not field.waits]
    return arranged(fields, order=str(person.participant.id), by_chance=person.shown.random_background)


def _take_background(data: QueryDict, person: Person) -> None:
    """Answers are stored once nothing more follows from them. Until then the page carries them."""
    answers, fields = read_fields(person.shown.background, data)
    asked = set(data.getlist("asked"))
    if errors := errors_of(fields):
        following = bool(asked)
        shown = [field for field in fields if field.waits == following or errors_of([field])]
    elif shown := [field for field in fields if field.waits and field.key not in asked]:
        following = True
    else:
        participation.record_background(person.participant, token=person.token, answers=answers)
        return
    page = {
        "fields": arranged(shown, order=str(person.participant.id), by_chance=person.shown.random_background and not following),
        "errors": errors,
        "following": following,
        "asked": [field.key for field in fields if field.waits and (field in shown or field.key in asked)],
        "carried": _carried(data, but=set().union(*(field.inputs for field in shown))) if following else [],
    }
    raise Invalid(**page) if errors else Unfinished(**page)


def _carried(data: QueryDict, *, but: set[str]) -> list[tuple[str, str]]:
    """The answers that were sent, but those whose inputs stand on the page."""
    return [(name, value) for name, values in data.lists() for value in values if name not in but | OF_THE_PAGE]


def _direct_consent_context(shown: Presentation, variant: None) -> dict[str, object]:
    return {"direct_consent_html": shown.direct_consent_html, "percent": round(shown.direct_share * 100)}


def _take_direct_consent(data: QueryDict, person: Person) -> None:
    if (choice := data.get("choice")) in ("agree", "decline"):
        participation.record_direct_consent(person.participant, token=person.token, agrees=choice == "agree")


def stimulus_of(person: Person) -> StimulusView:
    """The page of their arm on which somebody is."""
    return person.shown.stimuli[person.participant.arm][person.participant.page]


def _stimulus_variant(person: Person) -> tuple[str, int, int, str]:
    watching = frozen_protocol(person.participant.protocol_id).definition.watching
    participant = person.participant
    return participant.arm, participant.page, participant.watched_tenths, "optional" if person.is_bot else watching.mode


def _stimulus_context(shown: Presentation, variant: tuple[str, int, int, str]) -> dict[str, object]:
    arm, page, tenths, mode = variant
    return {
        "stimulus": shown.stimuli[arm][page],
        "page": page,
        "watch": mode,
        "required_share": shown.required_share,
        "watched_share": tenths / 10,
    }


def _take_stimulus(data: QueryDict, person: Person) -> None:
    participant, sent = person.participant, data.get("page", "0")
    if sent != str(participant.page):  # a page of before, sent twice or from another tab
        raise AlreadyDoneError
    shown, waited = stimulus_of(person), visitors.since_opening(data.get("opened", ""), participant)[0]
    watching = frozen_protocol(participant.protocol_id).definition.watching
    early = "" if person.is_bot else shown.too_early(watching, waited=waited, tenths=participant.watched_tenths)
    # The ticket stays, so that the time which was spent here counts.
    kept = {"opened": data["opened"]} if waited else {}
    if early:
        raise Invalid(errors=[{"field": KINDS[shown.kind].field, "message": early}], **kept)
    if shown.address and "undone" not in data and not person.is_bot:
        raise Invalid(
            errors=[{"field": "stimulus", "message": _("Go to the task first. It brings you back here when it is done.")}], **kept
        )
    participation.finish_stimulus(participant, page=participant.page, undone=bool(shown.address))


def _stimulus_values(person: Person) -> dict[str, str]:
    values = {"opened": visitors.opening_ticket(person.participant)}
    if (shown := stimulus_of(person)).address:
        ticket = return_ticket(person.token, person.participant.page)
        values["leave_url"] = shown.leaving(person.absolute(reverse("surveys:return", args=[person.shown.slug, ticket])))
    return values


def _items_of(person: Person) -> Sequence[FieldView]:
    """The quiz of this person. Unless an item hangs on answers, nothing reads the background, which is not loaded."""
    shown = person.shown
    return settled(shown.quiz, shown.background, person.participant.background) if shown.personal_quiz else shown.quiz


def _in_order_of_quiz(items: Sequence[FieldView], person: Person) -> tuple[FieldView, ...]:
    """The items in an order that is the same at every visit of this person."""
    return arranged(items, order=str(person.participant.id), by_chance=person.shown.random_quiz)


def _take_quiz(data: QueryDict, person: Person) -> None:
    answers, fields = read_fields(_items_of(person), data)
    if errors := errors_of(fields):
        raise Invalid(fields=_in_order_of_quiz(fields, person), errors=errors)
    participation.record_quiz(person.participant, answers={name: str(answer) for name, answer in answers.items()})


def _die_context(shown: Presentation, subsample: str) -> dict[str, object]:
    return {"die": shown.dice[subsample], "checks": first_checks(shown.dice[subsample]), "tried": ""}


def _take_die(data: QueryDict, person: Person) -> None:
    checks, all_right, misunderstood = checked(person.shown.dice[person.participant.subsample], data)
    tried = data.get("tried", "")
    if not all_right:
        errors = [{"field": check.field, "message": f"{check.legend} {check.error}"} for check in checks if check.error]
        raise Invalid(checks=checks, errors=errors, tried="1" if misunderstood or tried else "")
    participation.finish_die(person.participant, understood_at_once=not tried)


# The browser draws the moment at which the button opens: from the study's shortest time up to this many times as long.
LATEST_OPENING = 1.5


def _questions_context(shown: Presentation, subsample: str) -> dict[str, object]:
    latest = math.ceil(shown.minimum_seconds * LATEST_OPENING)
    questions = shown.asked_of(subsample)
    return {"die": shown.dice[subsample], "questions": questions, "minimum_seconds": shown.minimum_seconds, "latest_seconds": latest}


def _take_questions(data: QueryDict, person: Person) -> None:
    values, errors = read_responses(person.shown.questions, data)
    if errors:
        raise Invalid(errors=errors, given=[f"answer-{name}={value}" for name, value in values.items()])
    participation.record_responses(
        person.participant,
        reported={one.id: values[one.id] == "1" for one in person.shown.questions if not one.dice},
        chosen={one.id: int(values[one.id]) for one in person.shown.questions if one.dice},
    )


def _take_direct_questions(data: QueryDict, person: Person) -> None:
    participation.record_direct_answers(person.participant, answers=read_direct_answers(person.shown.questions, data))


def finished_way_back(person: Person) -> WayBack | None:
    """Where somebody who has finished says so."""
    study, arrival = person.participant.study, arrival_in(person.token, person.shown.entry)
    entry = protocol_in_force(study).definition.entry
    return way_back(arrival, Ended.FINISHED, in_force=entry, study_id=study.pk, slug=study.slug, token=person.token)


def _debrief_values(person: Person) -> dict[str, str]:
    elsewhere, mark = is_credited_elsewhere(arrival_in(person.token, person.shown.entry)), person.participant.credit
    code = completion_code(person.token, person.shown.slug, credited_elsewhere=elsewhere or has_other_credit(mark))
    values = {"completion_code": code, "withdrawal_code": withdrawal_code(person.token)}
    if back := finished_way_back(person):
        values |= {"completion_url": back.address, **{f"back_{name.lower()}": value for name, value in back.fields.items()}}
    if not elsewhere and mark != COMPLETED and gives_credit(person.participant.study_id):
        del values["completion_code"]  # one participation is worth one credit
        values["credit_ticket"] = ticket_for(hash_of_token(person.token), person.shown.slug)
    return values


STEP_PAGES = {
    BACKGROUND: StepPage(fields=_background_fields, take=_take_background),
    DIRECT_CONSENT: StepPage(shared=_direct_consent_context, take=_take_direct_consent),
    VIDEO: StepPage(
        variant=_stimulus_variant,
        shared=_stimulus_context,
        personal=_stimulus_values,
        take=_take_stimulus,
    ),
    QUIZ: StepPage(fields=lambda person: _in_order_of_quiz(_items_of(person), person), take=_take_quiz),
    DIE: StepPage(variant=lambda person: person.participant.subsample, shared=_die_context, take=_take_die),
    QUESTIONS: StepPage(
        variant=lambda person: person.participant.subsample,
        shared=_questions_context,
        take=_take_questions,
    ),
    DIRECT_QUESTIONS: StepPage(shared=lambda shown, _variant: {"questions": shown.questions}, take=_take_direct_questions),
    FINISHED: StepPage(shared=lambda shown, _variant: {"debrief_html": shown.debrief_html}, personal=_debrief_values, take=None),
}


def journey(request: HttpRequest, slug: str) -> HttpResponse:
    """The one address of a study: shows the page where this person belongs, and takes its form."""
    token, participant = visitors.participant_of(request, slug)
    if participant is None:
        if (study := read_study(slug)) is None:
            raise Http404("There is no such study.")
        return newcomer(request, study, goes_on=partial(_begin, request))
    person = person_on_the_way(request, token, participant)
    if request.GET and request.method != "POST" and participant.step != FINISHED and _is_another(request, person):
        return HttpResponseRedirect(f"{reverse('surveys:begin_anew', args=[slug])}?{request.GET.urlencode()}")
    with translation.override(person.shown.spoken):
        if participant.step != FINISHED and participant.study.status not in RUNNING:
            raise StudyClosedError
        return _take(request, person) if request.method == "POST" else show(request, person)


def _is_another(request: HttpRequest, person: Person) -> bool:
    """Whether the address is that of a member of a panel, by a way of today, who is not this person."""
    in_force = protocol_in_force(person.participant.study).definition.entry
    return names_another(request.GET, person.token, person.shown.entry, in_force=in_force)


def _take(request: HttpRequest, person: Person) -> HttpResponse:
    """Act on the sent form. Repeating an earlier step is harmless: the person goes to where they belong."""
    require_own(request.POST, mark_of(person.token))
    sent, here = request.POST.get("step", ""), person.participant.step
    page = STEP_PAGES.get(sent)
    if page is None or page.take is None or comes_before(sent, here):
        return to_journey(person.shown.slug, query=named_in(request.POST, person.participant.study))
    if sent != here:
        raise StepOutOfOrderError
    try:
        page.take(request.POST, person)
        if person.participant.step == FINISHED:
            entry = frozen_protocol(person.participant.protocol_id).definition.entry
            count_end(person.participant.study_id, entry, token=person.token, end=Ended.FINISHED)
    except AlreadyDoneError:
        return to_journey(person.shown.slug)
    except Invalid as invalid:
        return show_again(request, person, invalid)
    return onwards(request, person)


def _begin(request: HttpRequest, token: str, participant: Participant) -> HttpResponse:
    """The first step of somebody who just agreed."""
    person = person_on_the_way(request, token, participant)
    with translation.override(person.shown.spoken):
        return onwards(request, person)


def person_on_the_way(request: HttpRequest, token: str, participant: Participant) -> Person:
    """The participant in the language of this request."""
    return Person(
        token=token,
        participant=participant,
        shown=presentation(participant.protocol_id, language_of(request, participant.study, participant)),
        is_bot=participant.is_bot and visitors.is_bot(request, participant.study),
        absolute=request.build_absolute_uri,
    )


def show(request: HttpRequest, person: Person) -> HttpResponse:
    """The page where the person belongs."""
    step = person.participant.step
    page = STEP_PAGES[step]
    if step == QUIZ and person.shown.personal_quiz:
        return own_page(request, shown=person.shown, step=step, context=page.context(person))
    response = shared_page(
        request,
        protocol_id=person.participant.protocol_id,
        language=person.shown.language,
        step=step,
        shared=page.shared,
        variant=page.variant(person),
        personal=page.values(person),
        fields=page.fields(person),
    )
    if step == FINISHED:
        back = finished_way_back(person)
        if request.method == "GET":  # the codes are shown this once
            farewell = visitors.farewell_to(person.shown.language, back)
            visitors.remember_farewell(response, person.participant.study, farewell)
        let_send_to(response, back)
    return response


def show_again(request: HttpRequest, person: Person, invalid: Invalid) -> HttpResponse:
    """The same page with the typed text and its errors."""
    step = person.participant.step
    context = STEP_PAGES[step].context(person) | invalid.context
    return own_page(request, shown=person.shown, step=step, context=context, status=invalid.status)


def onwards(request: HttpRequest, person: Person) -> HttpResponse:
    """The next page for a script that can show it, and the way there for everybody else.

    The last page always begins with a document of its own, so that the memory of the page before, in which dice were rolled, has ended.
    So does a page from which somebody leaves for another site.
    """
    step = person.participant.step
    if not can_show_next_page(request) or step == FINISHED or (step == VIDEO and stimulus_of(person).address):
        return to_journey(person.shown.slug)
    return as_next_page(show(request, person))


def _own_values(person: Person) -> dict[str, str]:
    """The mark of this person's forms, and the address by which they can go on elsewhere; people who have finished need neither."""
    if person.participant.step == FINISHED:
        return {}
    return {"whose": mark_of(person.token), "resume_url": person.absolute(visitors.personal_link(person.shown.slug, person.token))}
