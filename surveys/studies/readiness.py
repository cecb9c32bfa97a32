"""Tasks left before a draft can go to review: one sentence each, with its page and field."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from surveys.definition import StudyDefinition
from surveys.drafting.consent_prompts import consent_prompts
from surveys.drafting.parts import PARTS, Part
from surveys.drafting.texts import gaps_in
from surveys.drafting.translations import Outdated, outdated_in
from surveys.languages.names import language_name
from surveys.media.language_files import own_words
from surveys.models import MediaFile, Study
from surveys.privacy.limits import reason_is_needed, refusal
from surveys.protocols import media_facts, with_known_originals
from surveys.questions.parts import Text, texts_of
from surveys.questions.stimuli import Arm, Shows
from surveys.study_file import define


@dataclass(frozen=True, slots=True, kw_only=True)
class ToDo:
    """`part`: name of the builder's part. Tasks that are not `needed` are advice."""

    sentence: str
    part: str
    address: str
    needed: bool = True


def to_do(study: Study, definition: StudyDefinition | None = None) -> list[ToDo]:
    """All tasks left, in the order of the parts."""
    definition = definition or define(study.definition)
    there = set(MediaFile.objects.filter(study=study, current=True).values_list("name", flat=True))
    found = [*_words(study, definition, there), *_gaps(definition), *_outdated(study, definition)]
    found += [*_unsaid(definition), *_files(definition, there), *_privacy(definition)]
    order = [part.name for part in PARTS]
    return sorted(found, key=lambda one: order.index(one.part))


def _words(study: Study, definition: StudyDefinition, there: set[str]) -> Iterator[ToDo]:
    """Files with the pages' own sentences that are not there, or lack some."""
    address = reverse("surveys:build_languages", args=[definition.slug])
    media = media_facts(study, set(definition.words.values())) if definition.words else {}
    for code, name in definition.words.items():
        if name not in there:
            yield ToDo(sentence=_("The file %(name)s has not been uploaded.") % {"name": name}, part="languages", address=address)
        elif missing := (words.missing if (words := own_words(definition, media, code)) else 0):
            said = _("%(count)s sentences of the pages have no words in %(language)s: download the list, add them, and upload it again.")
            values = {"count": missing, "language": language_name(code)}
            yield ToDo(sentence=said % values, part="languages", address=address)


def _gaps(definition: StudyDefinition) -> Iterator[ToDo]:
    contact = [("contact", Text(definition.contact))] if isinstance(definition.contact, str) else []
    for place, text in [*contact, *texts_of(definition)]:
        part = part_of(place)
        by_language = sorted(text.root.items()) if isinstance(text.root, dict) else [(definition.languages[0], text.root)]
        for code, words in by_language:
            for gap in gaps_in(words):
                shown = gap if len(gap) <= 80 else f"{gap[:77]}…"
                label = f"{part.label} ({language_name(code)})" if len(definition.languages) > 1 else str(part.label)
                yield ToDo(
                    sentence=_("%(part)s: fill in “%(gap)s”.") % {"part": label, "gap": shown},
                    part=part.name,
                    address=address_of(definition, place, code),
                )


def outdated_inputs(study: Study, definition: StudyDefinition) -> dict[str, list[Outdated]]:
    """The outdated translations by the address of their input, which may hold several, such as the options of a question."""
    inputs: dict[str, list[Outdated]] = {}
    for one in outdated_in(with_known_originals(study, definition)):
        inputs.setdefault(address_of(definition, one.place, one.language), []).append(one)
    return inputs


def _outdated(study: Study, definition: StudyDefinition) -> Iterator[ToDo]:
    said = _("%(part)s (%(language)s): the original was changed after it was translated. Translate it anew, or say that it is still right.")
    for address, (one, *_others) in outdated_inputs(study, definition).items():
        part = part_of(one.place)
        words = {"part": part.label, "language": language_name(one.language)}
        yield ToDo(sentence=said % words, part=part.name, address=address)


def _unsaid(definition: StudyDefinition) -> Iterator[ToDo]:
    """Subjects that officers look for in the consent."""
    said = _("The consent (%(language)s) seems to say nothing about %(subject)s. %(question)s")
    for prompt in consent_prompts(definition):
        if prompt.is_said is False:
            subject, language = prompt.subject, language_name(prompt.language)
            words = {"language": language, "subject": subject.label, "question": subject.question}
            address = address_of(definition, "consent", prompt.language)
            yield ToDo(sentence=said % words, part="consent", address=address, needed=False)


def _files(definition: StudyDefinition, there: set[str]) -> Iterator[ToDo]:
    places = [(arm, page, holder) for arm in definition.arms for page, holder in [("", arm), *((one.name, one) for one in arm.pages)]]
    # An arm with several pages names no file of its own beside those of its pages.
    users = {name: (arm, page) for arm, page, holder in reversed(places) for name in Shows.files(holder)}
    for name in sorted(users.keys() - there):
        sentence = _("The file %(name)s has not been uploaded.") % {"name": name}
        yield ToDo(sentence=sentence, part="arms", address=_files_address(definition, *users[name]))
    for arm, page, holder in places:
        for code in definition.languages:
            if holder.video.sources and code not in holder.video.captions:
                sentence = _("Arm “%(arm)s” has no captions in %(language)s. Some students cannot follow without.") % {
                    "arm": arm.label.in_language(definition.languages[0]),
                    "language": language_name(code),
                }
                yield ToDo(sentence=sentence, part="arms", address=_files_address(definition, arm, page), needed=False)
        if holder.task and not holder.task.address:
            sentence = _("Arm “%(arm)s” has a task on another site, and no address of it.") % {
                "arm": arm.label.in_language(definition.languages[0])
            }
            yield ToDo(sentence=sentence, part="arms", address=_arm_address(definition, arm, page) + "#task.address")
        for name in _unused(holder):
            sentence = _("The picture %(name)s is uploaded, and its text does not show it.") % {"name": name}
            yield ToDo(sentence=sentence, part="arms", address=_files_address(definition, arm, page), needed=False)


def _unused(holder: Shows) -> list[str]:
    """The pictures that the text beside them shows in no language."""
    if holder.reading is None:
        return []
    return [name for name in holder.reading.pictures if name not in holder.reading.pictures_shown]


def _privacy(definition: StudyDefinition) -> Iterator[ToDo]:
    part = next(part for part in PARTS if "questions" in part.keys)
    address = reverse(part.route, args=[definition.slug])
    if refused := refusal(definition):
        yield ToDo(sentence=refused, part=part.name, address=address)
    elif needed := reason_is_needed(definition):
        yield ToDo(sentence=needed, part=part.name, address=address, needed=False)


def _arm_address(definition: StudyDefinition, arm: Arm, page: str) -> str:
    names = [definition.slug, arm.name, *([page] if page else [])]
    return reverse("surveys:build_arm_page" if page else "surveys:build_arm", args=names)


def _files_address(definition: StudyDefinition, arm: Arm, page: str) -> str:
    return _arm_address(definition, arm, page) + "#files"


def part_of(place: str) -> Part:
    """The part of the builder in which the text at `place` is edited."""
    key = re.split(r"[.\[]", place)[0]
    return next((part for part in PARTS if key in part.keys), PARTS[-1])


def address_of(definition: StudyDefinition, place: str, code: str) -> str:
    """The page and the input of the text at `place` in the document, such as `background[2].options[0].text`."""
    key, _dot, rest = place.partition("[")
    if not rest:
        part = part_of(place)
        field = "" if part is PARTS[-1] else f"#{key}.{code}"
        return reverse(part.route, args=[definition.slug]) + field
    index, _bracket, inner = rest.partition("]")
    if key == "arms":
        arm, page = definition.arms[int(index)], ""
        if inside := re.fullmatch(r"\.pages\[(\d+)\]\.(.+)", inner):
            page, inner = arm.pages[int(inside[1])].name, inside[2]
        return _arm_address(definition, arm, page) + f"#{inner.strip('.')}.{code}"
    name = getattr(definition, key)[int(index)].name
    field = inner.strip(".").replace("[", ".").replace("]", "")
    field = f"{re.sub(r'options[.].*', 'options', field)}.{code}"
    return reverse("surveys:build_item", args=[definition.slug, key, name]) + f"#{field}"
