"""Reads a file of questions from another program, in a process of its own: what the file proposes, and the report of its attributes."""

from collections.abc import Callable, Mapping, Sequence
from typing import IO, TypedDict

from surveys.imports import files
from surveys.imports.documents import Proposed
from surveys.imports.mapping import Mapper
from surveys.imports.readers import limesurvey, qualtrics, question_tables, redcap, surveyjs
from surveys.imports.trees import Attribute, Node, place_of
from surveys.reading.words import SentenceDocument, UnreadableError, digits
from surveys.reading.words import sentence as _

MOST_LINES = 20_000
"""Lines of a report in which each attribute has its own. In longer ones, attributes of one question with one outcome share a line."""
MOST_SHARED_LINES = 60_000
MOST_QUESTIONS = 5000
READERS: Mapping[str, Callable[[Node, Mapper], None]] = {
    files.REDCAP: redcap.read,
    files.QUALTRICS: qualtrics.read,
    files.LIMESURVEY: limesurvey.read,
    files.SURVEYJS: surveyjs.read,
    files.TABLE: question_tables.read,
}


class Line(TypedDict):
    """`count` attributes with one outcome. `question`: the place of their question in the list, -1 for none; `about`: its part."""

    place: str
    value: str
    outcome: str
    about: str
    question: int
    count: int
    notes: list[SentenceDocument]


class Proposal(TypedDict):
    """The questions of a file, and its report."""

    kind: str
    encoding: str
    questions: list[Proposed]
    lines: list[Line]


def read(file: IO[bytes], *, source: str, languages: Sequence[str], present: Sequence[str]) -> Proposal:
    """The proposal as plain values. The study speaks `languages` and has the background questions `present`."""
    found = files.file_of(file.read(files.LARGEST + 1), source=source)
    mapper = Mapper(found.tree, languages=languages, present=present)
    READERS[found.kind](found.tree.root, mapper)
    mapper.finish()
    if len(mapper.questions) > MOST_QUESTIONS:
        raise UnreadableError(
            _(
                "%(source)s: expected at most %(most)s questions, found %(found)s",
                source=source,
                most=digits(MOST_QUESTIONS),
                found=digits(len(mapper.questions)),
            )
        )
    attributes = list(found.tree.attributes.values())
    lines = [_line(one) for one in attributes] if len(attributes) <= MOST_LINES else _shared(attributes)
    if len(lines) > MOST_SHARED_LINES:
        raise UnreadableError(_("%(source)s: it holds too much for one import; split it.", source=source))
    return Proposal(kind=found.kind, encoding=found.encoding, questions=mapper.questions, lines=lines)


def _line(one: Attribute, *, count: int = 1) -> Line:
    return Line(
        place=place_of(one.path) if count == 1 else f"{place_of(one.path)} …",
        value=one.value,
        outcome=one.outcome,
        about=one.about,
        question=one.question,
        count=count,
        notes=[note.document() for note in one.notes],
    )


def _shared(attributes: Sequence[Attribute]) -> list[Line]:
    """The lines of a long report: what has one outcome for the same reasons in one question stands together, at its first place."""
    together: dict[tuple[object, ...], list[Attribute]] = {}
    for one in attributes:
        notes = tuple((note.words, tuple(note.values.items())) for note in one.notes)
        together.setdefault((one.question, one.outcome, one.about, notes), []).append(one)
    return [_line(same[0], count=len(same)) for same in together.values()]
