"""The page of each participant's step, and the form it accepts. `Invalid` sends the page back with what was typed and what is wrong."""

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from http import HTTPStatus

from django.http import QueryDict
from django.utils.translation import gettext as _

from surveys.definition import StudyDefinition
from surveys.journey import services as participation
from surveys.journey import visitors
from surveys.journey.comprehension import checked, first_checks
from surveys.journey.fields import FieldView, arranged, field_view
from surveys.journey.forms import errors_of, read_direct_answers, read_fields, read_responses
from surveys.journey.pages import SharedContext
from surveys.journey.presentation import Presentation
from surveys.journey.steps import BACKGROUND, DIE, DIRECT_CONSENT, DIRECT_QUESTIONS, FINISHED, QUESTIONS, QUIZ, VIDEO
from surveys.models import Participant
from surveys.protocols import frozen_protocol
from surveys.questions.sections import SECTION
from surveys.recruitment.selectors import way_back
from surveys.tokens import completion_code, roll_key, withdrawal_code


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A participant on their way, with the texts of their language."""

    token: str
    participant: Participant
    shown: Presentation
    is_bot: bool


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
    """`shared` makes the context from the protocol's texts and the `variant` alone; `personal` are this person's few strings."""

    template: str
    variant: Callable[[Person], Hashable]
    shared: SharedContext
    personal: Callable[[Person], dict[str, str]]
    take: Callable[[QueryDict, Person], None] | None

    def context(self, person: Person) -> dict[str, object]:
        return {**self.personal(person), **self.shared(person.shown, self.variant(person))}


def _background_variant(person: Person) -> tuple[str, str]:
    """The section that the person's link named, and what decides their order of questions and options."""
    return str(person.participant.background.get(SECTION, "")), str(person.participant.id) if person.shown.personal_background else ""


def _background_context(shown: Presentation, variant: tuple[str, str]) -> dict[str, object]:
    """The questions for everybody; those that wait for answers come after them."""
    section, order = variant
    fields = [replace(field, value=section) if field.key == SECTION else field for field in shown.background if not field.waits]
    return {"fields": arranged(fields, order=order, by_chance=shown.random_background)}


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
        participation.record_background(person.token, answers=answers)
        return
    _section, order = _background_variant(person)
    page = {
        "fields": arranged(shown, order=order, by_chance=person.shown.random_background and not following),
        "errors": errors,
        "following": following,
        "asked": [field.key for field in fields if field.waits and (field in shown or field.key in asked)],
        "carried": _carried(data, but=set().union(*(field.inputs for field in shown))) if following else [],
    }
    raise Invalid(**page) if errors else Unfinished(**page)


def _carried(data: QueryDict, *, but: set[str]) -> list[tuple[str, str]]:
    """The answers that were sent, but those whose inputs stand on the page."""
    return [
        (name, value) for name, values in data.lists() for value in values if name not in but | {"csrfmiddlewaretoken", "step", "asked"}
    ]


def _direct_consent_context(shown: Presentation, variant: None) -> dict[str, object]:
    return {"direct_consent_html": shown.direct_consent_html, "percent": round(shown.direct_share * 100)}


def _take_direct_consent(data: QueryDict, person: Person) -> None:
    if (choice := data.get("choice")) in ("agree", "decline"):
        participation.record_direct_consent(person.token, agrees=choice == "agree")


def _video_variant(person: Person) -> tuple[str, int, str]:
    watching = frozen_protocol(person.participant.protocol_id).definition.watching
    return person.participant.arm, person.participant.watched_tenths, "optional" if person.is_bot else watching.mode


def _video_context(shown: Presentation, variant: tuple[str, int, str]) -> dict[str, object]:
    arm, tenths, mode = variant
    return {"video": shown.videos[arm], "watch": mode, "required_share": shown.required_share, "watched_share": tenths / 10}


def _take_video(data: QueryDict, person: Person) -> None:
    shown, waited = person.shown.videos[person.participant.arm], visitors.since_opening(data.get("opened", ""), person.participant)[0]
    if not person.is_bot and waited < shown.reading_seconds:
        # The ticket stays, so that the time which was spent reading counts.
        kept = {"opened": data["opened"]} if waited else {}
        raise Invalid(errors=[{"field": "reading", "message": _("Please read a little longer, then choose Continue.")}], **kept)
    watching = frozen_protocol(person.participant.protocol_id).definition.watching
    if watching.mode == "required" and shown.stimulus == "video" and not person.is_bot:
        # Without JavaScript nothing is reported while the lecture plays; the time since the page was opened counts instead.
        needed = watching.share * shown.duration_seconds
        if person.participant.watched_tenths / 10 < int(watching.share * 10 + 1e-6) / 10 and waited < needed:
            raise Invalid(errors=[{"field": "lecture", "message": _("Please watch a little more of the lecture first.")}])
    participation.finish_video(person.token)


def quiz_fields(definition: StudyDefinition, language: str, *, order: str) -> tuple[FieldView, ...]:
    """The quiz; shuffled options follow `order`, which is the same for one person at every visit."""
    fields = [field_view(item, language, name=f"quiz-{item.name}") for item in definition.quiz]
    return arranged(fields, order=order, by_chance="quiz" in definition.random_order)


def _quiz_fields(person: Person) -> tuple[FieldView, ...]:
    definition = frozen_protocol(person.participant.protocol_id).definition
    return quiz_fields(definition, person.shown.language, order=str(person.participant.id))


def _take_quiz(data: QueryDict, person: Person) -> None:
    answers, items = read_fields(_quiz_fields(person), data)
    if errors := errors_of(items):
        raise Invalid(items=items, errors=errors)
    participation.record_quiz(person.token, answers={name: str(answer) for name, answer in answers.items()})


def _die_context(shown: Presentation, subsample: str) -> dict[str, object]:
    return {"die": shown.dice[subsample], "checks": first_checks(shown.dice[subsample]), "tried": ""}


def _take_die(data: QueryDict, person: Person) -> None:
    checks, all_right, misunderstood = checked(person.shown.dice[person.participant.subsample], data)
    tried = data.get("tried", "")
    if not all_right:
        errors = [{"field": check.field, "message": check.error} for check in checks if check.error]
        raise Invalid(checks=checks, errors=errors, tried="1" if misunderstood or tried else "")
    participation.finish_die(person.token, understood_at_once=not tried)


# The browser draws the moment at which the button opens: from the study's shortest time up to this many times as long.
LATEST_OPENING = 1.5


def _questions_context(shown: Presentation, subsample: str) -> dict[str, object]:
    latest = math.ceil(shown.minimum_seconds * LATEST_OPENING)
    return {"die": shown.dice[subsample], "questions": shown.questions, "minimum_seconds": shown.minimum_seconds, "latest_seconds": latest}


def _take_questions(data: QueryDict, person: Person) -> None:
    reported, errors = read_responses(person.shown.questions, data)
    if errors:
        raise Invalid(errors=errors, given=[f"answer-{name}={data[f'answer-{name}']}" for name in reported if f"answer-{name}" in data])
    participation.record_responses(person.token, reported=reported)


def _take_direct_questions(data: QueryDict, person: Person) -> None:
    participation.record_direct_answers(person.token, answers=read_direct_answers(person.shown.questions, data))


def _debrief_values(person: Person) -> dict[str, str]:
    code = withdrawal_code(person.token)
    values = {"completion_code": completion_code(person.token, person.shown.slug), "withdrawal_code": code}
    if person.shown.completion_url:
        values["completion_url"] = way_back(person.participant.study_id, withdrawal_code=code, completion_url=person.shown.completion_url)
    return values


def _page(
    step: str,
    *,
    shared: SharedContext,
    take: Callable[[QueryDict, Person], None] | None,
    variant: Callable[[Person], Hashable] = lambda person: None,
    personal: Callable[[Person], dict[str, str]] = lambda person: {},
) -> StepPage:
    template = f"surveys/participant/{'debrief' if step == FINISHED else step}.html"
    return StepPage(template=template, variant=variant, shared=shared, personal=personal, take=take)


STEP_PAGES = {
    BACKGROUND: _page(
        BACKGROUND,
        variant=_background_variant,
        shared=_background_context,
        take=_take_background,
    ),
    DIRECT_CONSENT: _page(DIRECT_CONSENT, shared=_direct_consent_context, take=_take_direct_consent),
    VIDEO: _page(
        VIDEO,
        variant=_video_variant,
        shared=_video_context,
        personal=lambda person: {"opened": visitors.opening_ticket(person.participant)},
        take=_take_video,
    ),
    QUIZ: _page(QUIZ, variant=_quiz_fields, shared=lambda _shown, items: {"items": items}, take=_take_quiz),
    DIE: _page(DIE, variant=lambda person: person.participant.subsample, shared=_die_context, take=_take_die),
    QUESTIONS: _page(
        QUESTIONS,
        variant=lambda person: person.participant.subsample,
        shared=_questions_context,
        personal=lambda person: {"roll_key": roll_key(person.token)},
        take=_take_questions,
    ),
    DIRECT_QUESTIONS: _page(DIRECT_QUESTIONS, shared=lambda shown, _variant: {"questions": shown.questions}, take=_take_direct_questions),
    FINISHED: _page(FINISHED, shared=lambda shown, _variant: {"debrief_html": shown.debrief_html}, personal=_debrief_values, take=None),
}
