"""A study's questions as a file of another program, with a report of what does not come through: the file is read back to find out."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _
from pydantic import TypeAdapter

from surveys.definition import StudyDefinition
from surveys.imports.files import QUALTRICS, REDCAP, file_of
from surveys.imports.mapping import Mapper
from surveys.imports.reading import READERS
from surveys.imports.writers import qualtrics, redcap
from surveys.questions.background import BackgroundQuestion
from surveys.study_file import document_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """`write` gives the file's text, and by question what somebody should know who uses it."""

    label: str
    ending: str
    content_type: str
    write: Callable[..., tuple[str, list[tuple[str, str]]]]


PROGRAMS: Mapping[str, Program] = {
    REDCAP: Program(label="REDCap", ending="-redcap.csv", content_type="text/csv; charset=utf-8", write=redcap.written),
    QUALTRICS: Program(label="Qualtrics", ending=".qsf", content_type="application/json; charset=utf-8", write=qualtrics.written),
}


@dataclass(frozen=True, slots=True)
class Lost:
    """A thing that does not come through: the name of its question, and a sentence."""

    question: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Exported:
    text: str
    lost: list[Lost]


def exported(definition: StudyDefinition, program: str) -> Exported:
    """The background questions for a program."""
    text, known = PROGRAMS[program].write(definition.background, title=definition.slug, languages=definition.languages)
    named = {name for name, _sentence in known}
    lost = [Lost(name, sentence) for name, sentence in known]
    back = {question["name"]: question for question in _read_back(text, definition)}
    for question in document_of(definition).get("background", []):  # type: ignore[attr-defined]
        found = back.get(question["name"]) or back.get(_renamed(question["name"], back))
        if found is not None:
            lost += [Lost(question["name"], sentence) for sentence in _differences(question, found)]
        elif question["name"] not in named:
            lost.append(Lost(question["name"], _("It cannot be said there.")))
    never = _("Left out: there is no die there, so that the true answer would be stored.")
    lost += [Lost(question.name, never) for question in definition.questions]
    lost += [Lost(item.name, _("Items of the quiz are not in the file.")) for item in definition.quiz]
    order = [one.name for one in (*definition.background, *definition.quiz, *definition.questions)]
    return Exported(text, sorted(lost, key=lambda one: order.index(one.question)))


def _read_back(text: str, definition: StudyDefinition) -> Iterator[dict[str, object]]:
    """The questions that an import of the file would propose, as a study's document has them."""
    file = file_of(text.encode(), source="export")
    mapper = Mapper(file.tree, languages=definition.languages)
    READERS[file.kind](file.tree.root, mapper)
    reader: TypeAdapter[BackgroundQuestion] = TypeAdapter(BackgroundQuestion)
    for question in mapper.questions:
        if question["document"]:
            yield reader.validate_python(question["document"]).model_dump(mode="json", exclude_defaults=True)


def _renamed(name: str, back: Collection[object]) -> str:
    """The name of a question whose own name the program does not take."""
    plain = name.replace("-", "_")
    return next((one for one in (plain, f"q_{plain}") if one in back), "")


def _differences(mine: object, theirs: object, place: str = "") -> Iterator[str]:
    """Everything that an import would change, place by place."""
    if isinstance(mine, dict) and isinstance(theirs, dict):
        for key in dict.fromkeys([*mine, *theirs]):
            yield from _differences(mine.get(key), theirs.get(key), f"{place}.{key}" if place else str(key))
    elif isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs):
        for number, (one, other) in enumerate(zip(mine, theirs, strict=True), start=1):
            yield from _differences(one, other, f"{place} {number}")
    elif mine != theirs:
        values = {"place": place, "mine": _shown(mine, place), "theirs": _shown(theirs, place)}
        yield (_("%(place)s is lost: %(mine)s") if theirs is None else _("%(place)s is %(theirs)s there, not %(mine)s")) % values


def _shown(value: object, place: str) -> str:
    text = _("nothing") if value is None else str(value)
    if place.rpartition(".")[2] in ("kind", "role"):
        text = text.replace("_", " ")
    return text if len(text) <= 80 else f"{text[:79]}…"
