"""A study in one language, as the templates show it; for a frozen protocol it is built once per process and language."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from django.urls import reverse
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from candor.designs.categories import TRUTH
from surveys.definition import StudyDefinition
from surveys.drafting.markdown import sanitised_html
from surveys.journey import steps
from surveys.journey.fields import FieldView, Pairs, field_view, said_in, with_inputs_of_their_own
from surveys.journey.steps import DIRECT_QUESTIONS, QUESTIONS, steps_of
from surveys.journey.stimuli import Files, StimulusView, name_of_step, views_of
from surveys.media.language_files import code_to_speak, names_of_languages
from surveys.models import Media
from surveys.privacy.budgets import budget_in_words
from surveys.protocols import frozen_protocol
from surveys.questions.entry import Entry
from surveys.questions.parts import NO, YES
from surveys.questions.sections import SECTION
from surveys.questions.sensitive import SensitiveQuestion
from surveys.shelves.by_bytes import kept
from surveys.ways_in import Kept

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
    """Faces that say the same: yes, no, truth, or the name of a category, which has a `label`."""

    faces: tuple[int, ...]
    says: str
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DieView:
    """The die's instructions for one subsample, which the page does not name."""

    sides: int
    table: tuple[DieRow, ...]
    epsilon: float

    @property
    def forced(self) -> tuple[DieRow, ...]:
        """The rows that say what to answer."""
        return tuple(row for row in self.table if row.says != TRUTH)

    @property
    def is_yes_no(self) -> bool:
        return not any(row.label for row in self.table)


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveQuestionView:
    """`options` are values of the form, all equally long, with labels. A question with categories has `dice` of its own, by subsample."""

    id: str
    text: str
    hint: str
    options: Pairs
    epsilon: float
    dice: Mapping[str, DieView] = field(default_factory=dict)
    die: DieView | None = None
    """The die of the person at hand."""
    is_background: bool = False
    """Whether it is a background question that is privatised in the browser."""


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
    codes: tuple[str, ...]
    """Those of the languages."""
    version: int
    entry: Entry
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
    quiz: tuple[FieldView, ...]
    random_quiz: bool
    """Whether chance orders the quiz."""
    personal_quiz: bool
    """Whether its page is made for each person anew: it hangs on answers."""
    random_background: bool
    """Whether chance orders the background questions."""
    required_share: float
    minimum_seconds: int
    stimuli: dict[str, tuple[StimulusView, ...]]
    """The pages of each arm."""
    step_of_stimuli: str
    dice: dict[str, DieView]
    """By subsample: the die of the yes/no questions, or of the first question where there are none. It is explained and tried out."""

    @property
    def kept(self) -> tuple[Kept, ...]:
        """The data stored about the ways in, each kind once."""
        return tuple(dict.fromkeys(way.way.kept for way in self.entry.every_way if way.way.kept))

    @property
    def told(self) -> tuple[str, ...]:
        """The words for participants about the data that the ways in leave."""
        return tuple(dict.fromkeys(str(kept.told) for kept in self.kept))

    @property
    def sends_back(self) -> bool:
        """Whether the last page leads some people back to where they came from."""
        return any(way.completion_url or way.way.submits_to for way in self.entry.every_way)

    @property
    def own_tables(self) -> bool:
        """Whether what a face means depends on the question."""
        return any(question.dice for question in self.questions)

    @property
    def privatises_background(self) -> bool:
        """Whether background questions are among them."""
        return any(question.is_background for question in self.questions)

    def asked_of(self, subsample: str) -> tuple[SensitiveQuestionView, ...]:
        """The questions with the die of this subsample."""
        return tuple(replace(one, die=one.dice.get(subsample, self.dice[subsample])) for one in self.questions)

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


@kept(most_bytes=16 * 1024**2)
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
    spoken, languages = code_to_speak(definition, media, language), names_of_languages(definition, media)
    quiz = tuple(field_view(item, language, name=f"quiz-{item.name}") for item in definition.quiz)
    background = [*_section(definition, spoken), *(field_view(question, language, spoken=spoken) for question in definition.background)]
    return Presentation(
        slug=definition.slug,
        address=address,
        progress_address=progress_address,
        title=definition.title.in_language(language),
        summary_html=sanitised_html(definition.summary.in_language(language)),
        contact=definition.contact if isinstance(definition.contact, str) else definition.contact.in_language(language),
        language=language,
        spoken=spoken,
        languages=languages,
        codes=tuple(code for code, _name in languages),
        version=version,
        entry=definition.entry,
        consent_html=sanitised_html(definition.consent.in_language(language)),
        debrief_html=sanitised_html(definition.debrief.in_language(language)),
        direct_consent_html=sanitised_html(said_in(definition.direct_group.consent, language)) if definition.direct_group else "",
        direct_share=float(definition.direct_share),
        budget=_budget(definition, spoken),
        has_feedback=definition.privacy_budget is not None and bool(definition.quiz),
        background=with_inputs_of_their_own(background),
        questions=tuple(_sensitive(question, definition, language, spoken) for question in definition.questions),
        steps=steps_of(definition),
        quiz=quiz,
        random_quiz="quiz" in definition.random_order,
        personal_quiz=any(item.waits for item in quiz),
        random_background="background" in definition.random_order,
        required_share=definition.watching.share,
        minimum_seconds=definition.minimum_seconds,
        stimuli={arm.name: views_of(arm.shown, definition, language, Files(media, media_address)) for arm in definition.arms},
        step_of_stimuli=_step_of_stimuli(definition, spoken),
        dice=_dice(definition, (*definition.yes_no_questions, *definition.category_questions)[0], language),
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


def _sensitive(question: SensitiveQuestion, definition: StudyDefinition, language: str, spoken: str) -> SensitiveQuestionView:
    if question.categories:
        options = tuple((str(place), one.text.in_language(language)) for place, one in enumerate(question.categories))
    else:
        yes = _in_words_of_pages("Yes", spoken) if question.yes == YES else question.yes.in_language(language)
        no = _in_words_of_pages("No", spoken) if question.no == NO else question.no.in_language(language)
        options = (("1", yes), ("0", no))
    return SensitiveQuestionView(
        id=question.name,
        text=question.text.in_language(language),
        hint=said_in(question.hint, language),
        options=options,
        epsilon=definition.epsilons[question.name],
        dice=_dice(definition, question, language) if question.categories else {},
        is_background=question.is_background,
    )


def _dice(definition: StudyDefinition, question: SensitiveQuestion, language: str) -> dict[str, DieView]:
    """The meaning of the die for this question in each subsample."""
    rolled = question.die(definition.die.sides) if question.categories else definition.die.design()
    labels = {one.name: one.text.in_language(language) for one in question.categories}
    forced = rolled.forced_responses()
    found = {}
    for subsample, rule in rolled.faces.items():
        said = {face: says for says, faces in rule.items() for face in faces}
        faces_of = {says: [face for face in range(1, rolled.sides + 1) if said.get(face, TRUTH) == says] for says in (*rule, TRUTH)}
        table = (DieRow(faces=tuple(faces), says=says, label=labels.get(says, "")) for says, faces in faces_of.items() if faces)
        found[subsample] = DieView(sides=rolled.sides, table=tuple(table), epsilon=forced[subsample].epsilon)
    return found
