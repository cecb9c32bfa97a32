"""A study in one language, as the templates show it; for a frozen protocol it is built once per process and language."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from django.urls import reverse
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from surveys.definition import StudyDefinition
from surveys.drafting.markdown import sanitised_html
from surveys.journey import steps
from surveys.journey.fields import FieldView, Pairs, field_view, said_in
from surveys.journey.steps import DIRECT_QUESTIONS, QUESTIONS, steps_of
from surveys.journey.stimuli import Files, StimulusView, name_of_step, views_of
from surveys.media.language_files import code_to_speak, names_of_languages
from surveys.models import Media
from surveys.privacy.budgets import budget_in_words
from surveys.protocols import frozen_protocol
from surveys.questions.parts import NO, YES
from surveys.questions.sections import SECTION
from surveys.ways_in import WayIn

NAMES: dict[str, str | Promise] = {
    steps.WELCOME: _("Welcome"),
    steps.CONSENT: _("Your agreement"),
    steps.BACKGROUND: _("About you"),
    steps.DIRECT_CONSENT: _("How we may ask"),
    steps.QUIZ: _("Quiz"),
    steps.DIE: _("The die"),
    QUESTIONS: _("Personal questions"),
    steps.FINISHED: _("Your codes"),
}

SECTION_QUESTION = gettext_noop("Which section are you in?")
SECTION_HINT = gettext_noop("This question needs an answer: everybody in a section sees the same lecture.")


@dataclass(frozen=True, slots=True, kw_only=True)
class DieRow:
    faces: tuple[int, ...]
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DieView:
    """The die's instructions for one subsample, which the page does not name."""

    sides: int
    table: tuple[DieRow, ...]
    yes_faces: tuple[int, ...]
    no_faces: tuple[int, ...]
    truth_faces: tuple[int, ...]
    epsilon: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveQuestionView:
    id: str
    text: str
    hint: str
    yes_label: str
    no_label: str

    @property
    def options(self) -> Pairs:
        return ("1", self.yes_label), ("0", self.no_label)


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """`address` takes the pages' forms; `progress_address` receives how much of the lecture has been watched."""

    slug: str
    address: str
    progress_address: str
    title: str
    summary_html: str
    contact: str
    language: str
    spoken: str
    """The code under which gettext has the pages' own words: mostly the language's."""
    languages: Pairs
    version: int
    way_in: WayIn
    consent_html: str
    debrief_html: str
    direct_consent_html: str
    direct_share: float
    budget: tuple[str, ...]
    has_feedback: bool
    """Whether there is, or may be once the study is over, a page on which students learn how they did in the quiz."""
    background: tuple[FieldView, ...]
    questions: tuple[SensitiveQuestionView, ...]
    steps: tuple[str, ...]
    quiz_orders: int
    random_background: bool
    """Whether chance orders the background questions."""
    personal_background: bool
    """Whether chance orders anything on their page."""
    required_share: float
    minimum_seconds: int
    completion_url: str
    stimuli: dict[str, tuple[StimulusView, ...]]
    """The pages of each arm."""
    step_of_stimuli: str
    dice: dict[str, DieView]

    @property
    def shows_lectures(self) -> bool:
        """Whether everybody is shown a lecture."""
        return all([page.kind for page in pages] == ["video"] for pages in self.stimuli.values())

    @property
    def sections(self) -> tuple[str, ...]:
        """The numbers of the sections that are assigned as a whole."""
        return tuple(number for field in self.background if field.key == SECTION for number, _label in field.options)

    def progress(self, step: str) -> dict[str, int | str | Promise]:
        """The number of steps is the same for everybody, so that nobody can read from it before their turn how they will be asked."""
        place = self.steps.index(QUESTIONS if step == DIRECT_QUESTIONS else step)
        name = self.step_of_stimuli if self.steps[place] == steps.VIDEO else NAMES[self.steps[place]]
        return {"number": place + 1, "total": len(self.steps), "name": name}


@lru_cache(maxsize=256)
def presentation(protocol_id: int, language: str) -> Presentation:
    """Everything a participant's page says, in `language`."""
    protocol = frozen_protocol(protocol_id)
    slug = protocol.definition.slug
    return present(
        protocol.definition,
        media=protocol.media,
        version=protocol.version,
        language=language,
        address=reverse("surveys:journey", args=[slug]),
        progress_address=reverse("surveys:progress", args=[slug]),
        media_address=lambda media_id: reverse("surveys:media", args=[slug, media_id]),
    )


def present(
    definition: StudyDefinition,
    *,
    media: Media,
    version: int,
    language: str,
    address: str,
    progress_address: str,
    media_address: Callable[[str], str],
) -> Presentation:
    """A definition with its media, frozen or not. `media_address` gives the URL of a file by its id."""
    spoken = code_to_speak(definition, media, language)
    return Presentation(
        slug=definition.slug,
        address=address,
        progress_address=progress_address,
        title=definition.title.in_language(language),
        summary_html=sanitised_html(definition.summary.in_language(language)),
        contact=definition.contact if isinstance(definition.contact, str) else definition.contact.in_language(language),
        language=language,
        spoken=spoken,
        languages=names_of_languages(definition, media),
        version=version,
        way_in=definition.entry.way,
        consent_html=sanitised_html(definition.consent.in_language(language)),
        debrief_html=sanitised_html(definition.debrief.in_language(language)),
        direct_consent_html=sanitised_html(said_in(definition.direct_group.consent, language)) if definition.direct_group else "",
        direct_share=float(definition.direct_share),
        budget=_budget(definition, spoken),
        has_feedback=definition.privacy_budget is not None and bool(definition.quiz),
        background=(*_section(definition, spoken), *(field_view(question, language, spoken=spoken) for question in definition.background)),
        questions=tuple(
            SensitiveQuestionView(
                id=question.name,
                text=question.text.in_language(language),
                hint=said_in(question.hint, language),
                yes_label=_in_words_of_pages("Yes", spoken) if question.yes == YES else question.yes.in_language(language),
                no_label=_in_words_of_pages("No", spoken) if question.no == NO else question.no.in_language(language),
            )
            for question in definition.questions
        ),
        steps=steps_of(definition),
        quiz_orders=math.prod(math.factorial(len(item.options)) for item in definition.quiz if item.shuffle)
        * (math.factorial(len(definition.quiz)) if "quiz" in definition.random_order else 1),
        random_background="background" in definition.random_order,
        personal_background="background" in definition.random_order or any(getattr(one, "shuffle", False) for one in definition.background),
        required_share=definition.watching.share,
        minimum_seconds=definition.minimum_seconds,
        completion_url=definition.entry.completion_url or "",
        stimuli={arm.name: views_of(arm.shown, definition, language, Files(media, media_address)) for arm in definition.arms},
        step_of_stimuli=_step_of_stimuli(definition, spoken),
        dice={subsample: _die(definition, subsample) for subsample in definition.die.subsamples},
    )


def _in_words_of_pages(words: str, spoken: str) -> str:
    with translation.override(spoken):
        return translation.gettext(words)


def _section(definition: StudyDefinition, spoken: str) -> Iterator[FieldView]:
    """The question for one's section, where sections are assigned as a whole."""
    if definition.in_sections:
        yield FieldView(
            name=SECTION,
            key=SECTION,
            kind="single_choice",
            text=_in_words_of_pages(SECTION_QUESTION, spoken),
            hint=_in_words_of_pages(SECTION_HINT, spoken),
            options=tuple(definition.sections.items()),
            required=True,
        )


def _budget(definition: StudyDefinition, spoken: str) -> tuple[str, ...]:
    """The meaning of the privacy budget, if there is one."""
    with translation.override(spoken):
        return budget_in_words(definition.privacy_budget) if definition.privacy_budget else ()


def _step_of_stimuli(definition: StudyDefinition, spoken: str) -> str:
    with translation.override(spoken):
        return name_of_step(definition.stimuli) if definition.stimuli else ""


def _die(definition: StudyDefinition, subsample: str) -> DieView:
    faces = definition.die.subsamples[subsample]
    said: dict[int, str] = dict.fromkeys(faces.yes, "yes") | dict.fromkeys(faces.no, "no")
    by_answer = {
        says: tuple(face for face in range(1, definition.die.sides + 1) if said.get(face, "truth") == says)
        for says in ("yes", "no", "truth")
    }
    return DieView(
        sides=definition.die.sides,
        table=tuple(DieRow(faces=shown, says=says) for says, shown in by_answer.items() if shown),
        yes_faces=by_answer["yes"],
        no_faces=by_answer["no"],
        truth_faces=by_answer["truth"],
        epsilon=definition.die.design().forced_responses()[subsample].epsilon,
    )
