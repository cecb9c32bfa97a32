"""The protocol packet: everything an officer must know about one version of a study, frozen or still a draft."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.formats import number_format
from django.utils.translation import gettext_lazy

from candor.designs.design import Design
from surveys.allocation.findable import about_sections
from surveys.definition import StudyDefinition
from surveys.drafting.consent_prompts import Prompt, consent_prompts
from surveys.drafting.markdown import sanitised_html
from surveys.drafting.translations import Outdated, outdated_in, remembering
from surveys.journey.fields import FieldView, field_view
from surveys.journey.presentation import DieView, Presentation, present
from surveys.journey.stimuli import StimulusView
from surveys.languages.names import language_name
from surveys.languages.offered import LANGUAGE_NAMES, OWN
from surveys.media.language_files import OwnWords, brought_words, names_of_languages
from surveys.models import Media, PacketSection, Protocol
from surveys.preregistration.planned_tests import planned_tests_in_words
from surveys.privacy.budgets import bought_in_words, budget_in_words, in_how_many
from surveys.privacy.exact import shown_exactly
from surveys.privacy.limits import reason_is_needed
from surveys.privacy.words import privacy_in_words
from surveys.questions.background import Group, QuizItem, ShortText
from surveys.questions.parts import texts_of
from surveys.questions.sensitive import SensitiveQuestion
from surveys.questions.stimuli import Stimulus, Video
from surveys.review.changes import Change, Word, changes_between, in_words, section_of
from surveys.study_file import define

ADDRESS_OF_NOTHING = "#"
NEVER_RELEASED = gettext_lazy("never released")
ROLES = {
    "quasi_identifier": gettext_lazy("quasi identifier"),
    "sensitive": gettext_lazy("sensitive"),
    "auxiliary": gettext_lazy("auxiliary"),
}
MARKDOWN = re.compile(r"summary|consent|debrief|direct_group\.consent|.*\.(transcript|caption|reading\.text|task\.text)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPage:
    """A page of an arm as officers see it, with its files and the languages of its captions."""

    shown: StimulusView
    files: tuple[str, ...]
    captions: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmView:
    name: str
    label: str
    is_control: bool
    weight: int
    share: float
    quota: int | None
    kind: str
    pages: tuple[ShownPage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsampleDie:
    name: str
    share: float
    die: DieView


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryDie:
    """The die of a question with answers of its own: for each answer the faces that say it, in every subsample; the truth comes last."""

    text: str
    rows: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...]
    is_ordered: bool
    scores: str
    epsilon: float
    assumption: str
    identified: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    name: str
    media_type: str
    seconds: float | None
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundView:
    field: FieldView
    roles: tuple[str, ...]
    fields: tuple[FieldView, ...]
    expected: str
    """The answer that an attention check expects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslatedText:
    """A text in another language than the packet's; in HTML where students see it formatted."""

    place: str
    text: str
    html: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """A packet section's texts for students in another language."""

    section: str
    language: str
    name: str
    texts: tuple[TranslatedText, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """One version in one language. `frozen_on` is None for a draft."""

    version: int
    sha256: str
    frozen_on: date | None
    definition: StudyDefinition
    shown: Presentation
    arms: tuple[ArmView, ...]
    dice: tuple[SubsampleDie, ...]
    """The die of the yes/no questions, if there are any."""
    category_dice: tuple[CategoryDie, ...]
    background: tuple[BackgroundView, ...]
    quiz: tuple[tuple[FieldView, str], ...]
    files: tuple[StoredFile, ...]
    languages: tuple[tuple[str, str], ...]
    added_languages: tuple[OwnWords, ...]
    """Those whose sentences of the pages themselves come from a file."""
    without_words: tuple[str, ...]
    """Those in which the pages themselves have no words, so that they are English around the study's texts."""
    translations: tuple[Translation, ...]
    consent_prompts: tuple[Prompt, ...]
    outdated: tuple[Outdated, ...]
    """Translations whose original was changed since they were made."""
    subsample_blocks: tuple[int, ...]
    arm_blocks: tuple[int, ...]
    strata: tuple[str, ...]
    """Background questions with lists for each answer."""
    section_labels: tuple[str, ...]
    """Labels of the sections that are assigned as a whole."""
    price_of_sections: str
    """The precision that they cost, in words."""
    subgroups: tuple[str, ...]
    analysis_plan: str
    planned_tests: tuple[tuple[str, str], ...]
    """A term and a sentence for every margin and family."""
    release_plan: str
    budget: tuple[str, ...]
    """The privacy budget's meaning; with it its precision, its 1/δ, and everything that it does not cover."""
    budget_buys: tuple[str, ...]
    budget_rarity: str
    shown_exactly: tuple[str, ...]
    epsilon: float
    epsilon_total: float
    privacy: tuple[str, ...]
    needs_reason: str
    assumption: str
    """About the yes/no questions, or the first question where there are none."""
    identified: bool
    is_tested: bool
    """Whether the answers can speak against the assumption by a specification test."""

    @property
    def outdated_places(self) -> list[tuple[str, str]]:
        """The outdated translations as their place on the page, and their language."""
        return [(_place(one.place), language_name(one.language)) for one in self.outdated]

    @property
    def shows(self) -> str:
        """The one kind that all groups are shown, `several`, or nothing."""
        kinds = self.definition.stimuli
        return next(iter(kinds)) if len(kinds) == 1 else "several" if kinds else ""

    @property
    def direct_percent(self) -> int:
        """The percentage of people who are asked directly."""
        return round(self.shown.direct_share * 100)

    @property
    def sections(self) -> list[PacketSection]:
        return list(PacketSection)


def packet_of(
    protocol: Protocol,
    *,
    language: str,
    before: Protocol | None = None,
    media_address: Callable[[str], str] = lambda media_id: ADDRESS_OF_NOTHING,
) -> Packet:
    """The packet of a protocol, stored or not, with its texts in `language` (the study's first if it has no such).

    `before` is the version that officers decided on last. It tells the originals of a protocol that was frozen before translations
    remembered them. `media_address` gives the address at which a file is played, by its id.
    """
    definition = define(protocol.definition)
    language = language if language in definition.languages else definition.languages[0]
    shown = present(
        definition,
        media=protocol.media,
        version=protocol.version,
        language=language,
        address=ADDRESS_OF_NOTHING,
        progress_address=ADDRESS_OF_NOTHING,
        media_address=media_address,
    )
    first, budget = (*definition.yes_no_questions, *definition.category_questions)[0], definition.privacy_budget
    design = definition.design_of(first)
    questions = {one.name: one.text.in_language(language) for one in definition.questions}
    return Packet(
        version=protocol.version,
        sha256=protocol.sha256,
        frozen_on=protocol.frozen_on if protocol.pk else None,
        definition=definition,
        shown=shown,
        arms=tuple(_arms(definition, shown, protocol.media)),
        dice=tuple(
            SubsampleDie(name=name, share=weight / sum(definition.subsample_weights.values()), die=shown.dice[name])
            for name, weight in definition.subsample_weights.items()
        ),
        category_dice=tuple(_category_die(question, definition, shown) for question in definition.category_questions),
        background=tuple(_background(definition, language)),
        quiz=tuple((field_view(item, language), _answer(item, language)) for item in definition.quiz),
        files=tuple(
            StoredFile(name=name, media_type=facts["media_type"], seconds=facts["duration_seconds"], sha256=facts["sha256"])
            for name, facts in sorted(protocol.media.items())
        ),
        languages=names_of_languages(definition, protocol.media),
        added_languages=(added := tuple(brought_words(definition, protocol.media))),
        without_words=tuple(code for code in definition.languages if code not in (*OWN, *(one.code for one in added))),
        translations=tuple(_translations(definition, besides=language)),
        consent_prompts=tuple(prompt for prompt in consent_prompts(definition) if prompt.language == language),
        outdated=tuple(outdated_in(remembering(definition, before=remembering(define(before.definition)) if before else None))),
        subsample_blocks=_blocks(definition, sum(definition.subsample_weights.values())),
        arm_blocks=_blocks(definition, sum(definition.arm_weights.values())),
        strata=tuple(one.text.in_language(language) for one in definition.background if one.name in definition.allocation.strata),
        section_labels=tuple(definition.sections.values()),
        price_of_sections=about_sections(definition),
        planned_tests=tuple(planned_tests_in_words(definition.analysis, questions)),
        subgroups=tuple(definition.possible_subgroups[name].text.in_language(language) for name in definition.subgroups),
        analysis_plan=definition.analysis_plan.in_language(language) if definition.analysis_plan else "",
        release_plan=definition.release_plan.in_language(language) if definition.release_plan else "",
        budget=budget_in_words(budget) if budget else (),
        budget_buys=tuple(bought_in_words(definition)),
        budget_rarity=in_how_many(budget.delta) if budget else "",
        shown_exactly=tuple(shown_exactly(definition)),
        epsilon=definition.epsilon,
        epsilon_total=definition.epsilon_total,
        privacy=privacy_in_words(definition.epsilon, questions=len(definition.questions), total=definition.epsilon_total),
        needs_reason=reason_is_needed(definition),
        assumption=design.identification.assumption,
        identified=_is_identified(design),
        is_tested=_is_tested(design),
    )


def changes_since(old: Protocol, new: Protocol) -> list[tuple[PacketSection, list[Change]]]:
    """The differences between two versions, by section; sections without a change are left out."""
    found = changes_between(
        define(old.definition),
        define(new.definition),
        old_files={name: facts["sha256"] for name, facts in old.media.items()},
        new_files={name: facts["sha256"] for name, facts in new.media.items()},
        language_names=LANGUAGE_NAMES,
    )
    by_section = ((section, [change for change in found if change.section == section]) for section in PacketSection)
    return [(section, changes) for section, changes in by_section if changes]


def _translations(definition: StudyDefinition, *, besides: str) -> Iterator[Translation]:
    """Every text that another language changes, by section and language."""
    for code in definition.languages:
        if code == besides:
            continue
        texts: dict[str, list[TranslatedText]] = {}
        for path, text in texts_of(definition):
            if isinstance(text.root, dict):
                said = text.in_language(code)
                html = sanitised_html(said) if MARKDOWN.fullmatch(path) else ""
                texts.setdefault(section_of(re.split(r"\W", path)[0]), []).append(TranslatedText(place=_place(path), text=said, html=html))
        for section, found in texts.items():
            in_order = tuple(sorted(found, key=lambda one: _words_and_numbers(one.place)))
            yield Translation(section=section, language=code, name=language_name(code), texts=in_order)


def _place(path: str) -> str:
    """`background[0].options[1].text` becomes “background 1 › option 2” in the reader's language, with the numbers on the page."""
    singular = re.sub(r"s?\[", "[", path.replace("categories[", "category["))
    parts = (re.fullmatch(r"(\w+)(?:\[(\d+)\])?", part) for part in re.sub(r"\.(text|label)$", "", singular).split("."))
    return " › ".join(in_words(Word(part[1])) + (f" {int(part[2]) + 1}" if part[2] else "") for part in parts if part)


def _words_and_numbers(place: str) -> list[tuple[bool, int, str]]:
    """Sort key: a question before its options, and the tenth after the second."""
    parts = re.findall(r"\d+|[^\d›]+", place)
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def _blocks(definition: StudyDefinition, weights: int) -> tuple[int, ...]:
    """The possible lengths of random blocks in a list whose labels have this sum of weights."""
    return tuple(sorted({weights * multiple for multiple in definition.allocation.block_multiples}))


def _is_tested(design: Design) -> bool:
    """A survey has as many shares as its model has parameters, unless a third subsample adds one and the cheaters' rate does not."""
    free_rate = design.cheater_model.yes_rate is None and design.identification.arm_specific_cheaters
    return not design.is_survey or (len(design.subsample_names) > 2 and not free_rate)


def _is_identified(design: Design) -> bool:
    """Whether the die tells what the study asks for."""
    return design.identification.prevalence if design.is_survey else design.identification.effect


def _category_die(question: SensitiveQuestion, definition: StudyDefinition, shown: Presentation) -> CategoryDie:
    dice, design = next(one.dice for one in shown.questions if one.id == question.name), definition.category_design(question)
    rows = [(row.says, row.label) for row in next(iter(dice.values())).table]
    faces = [{row.says: row.faces for row in die.table} for die in dice.values()]
    return CategoryDie(
        text=question.text.in_language(shown.language),
        rows=tuple((label, tuple(of_one[says] for of_one in faces)) for says, label in rows),
        is_ordered=question.ordered,
        scores="; ".join(number_format(f"{float(score):.15g}") for score in design.scores),
        epsilon=design.epsilon,
        assumption=design.identification.assumption,
        identified=design.identification.prevalence if question.is_background else _is_identified(design),
    )


def _arms(definition: StudyDefinition, shown: Presentation, media: Media) -> list[ArmView]:
    total = sum(definition.arm_weights.values())
    return [
        ArmView(
            name=arm.name,
            label=arm.label.in_language(shown.language),
            is_control=arm.name == definition.control,
            weight=arm.weight,
            share=arm.weight / total,
            quota=arm.quota,
            kind=arm.kind,
            pages=tuple(
                ShownPage(shown=view, files=tuple(one.files()), captions=_captions(one, definition.languages))
                for one, view in zip(arm.shown, shown.stimuli[arm.name], strict=False)  # an arm that shows nothing has a view of that
            ),
        )
        for arm in definition.arms
    ]


def _captions(stimulus: Stimulus, languages: Sequence[str]) -> str:
    """The languages of a video's captions."""
    found = stimulus.captions_in_order(languages) if isinstance(stimulus, Video) else []
    return ", ".join(language_name(code) for code, _name in found)


def _background(definition: StudyDefinition, language: str) -> list[BackgroundView]:
    found = []
    for question in definition.background:
        parts = question.fields if isinstance(question, Group) else (question,)
        view = field_view(question, language)
        found.append(
            BackgroundView(
                field=view,
                roles=tuple(dict.fromkeys(str(NEVER_RELEASED if isinstance(part, ShortText) else ROLES[part.role]) for part in parts)),
                fields=tuple(field_view(part, language) for part in parts),
                expected=next((text for name, text in view.options if name == getattr(question, "expected", None)), ""),
            )
        )
    return found


def _answer(item: QuizItem, language: str) -> str:
    return str(next(option.text.in_language(language) for option in item.options if option.name == item.answer))
