"""The bytes of a file as one tree, and the kind of file that it is: REDCap, Qualtrics, LimeSurvey, SurveyJS, or a table of questions."""

import csv
import io
import json
import re
from collections import Counter
from dataclasses import dataclass
from xml.parsers import expat

from surveys.imports.encodings import decoded
from surveys.imports.trees import Plain, Tree, leaves
from surveys.reading.words import Sentence, UnreadableError, digits
from surveys.reading.words import sentence as _

LARGEST = 25 * 1024**2
MOST_ATTRIBUTES = 1_000_000
MOST_ROWS = 5000
MOST_COLUMNS = 100
DEEPEST = 60
REDCAP, QUALTRICS, LIMESURVEY, SURVEYJS, TABLE = "redcap", "qualtrics", "limesurvey", "surveyjs", "table"
REDCAP_COLUMNS = {
    name: re.sub(r"[^a-z]", "", name.lower())
    for name in (
        "Variable / Field Name",
        "Form Name",
        "Section Header",
        "Field Type",
        "Field Label",
        "Choices, Calculations, OR Slider Labels",
        "Field Note",
        "Text Validation Type OR Show Slider Number",
        "Text Validation Min",
        "Text Validation Max",
        "Identifier?",
        "Branching Logic (Show field only if...)",
        "Required Field?",
        "Custom Alignment",
        "Question Number (surveys only)",
        "Matrix Group Name",
        "Matrix Ranking?",
        "Field Annotation",
    )
}
"""Columns of a data dictionary. Versions of REDCap write them with other capitals and question marks."""
NEEDED = ("Variable / Field Name", "Field Type", "Field Label")


@dataclass(frozen=True, slots=True)
class File:
    kind: str
    encoding: str
    tree: Tree


def file_of(content: bytes, *, source: str) -> File:
    """The file's values; an UnreadableError says what was expected and what came."""
    if len(content) > LARGEST:
        raise UnreadableError(_("%(source)s: expected at most %(most)s MB.", source=source, most=LARGEST // 1024**2))
    text, encoding = decoded(content, source=source)
    start = text.lstrip()[:1]
    if start in ("{", "["):
        root = _json(text, source)
        kind = _kind_of_json(root, source)
    elif start == "<":
        root, kind = _xml(text, source), LIMESURVEY
        if not isinstance(root, dict) or "questions" not in root:
            raise _unknown(source, _("XML without a table of questions"))
    else:
        root, kind = _rows(text, source)
    several = sum(1 for _one in leaves(root))
    if several > MOST_ATTRIBUTES:
        raise UnreadableError(
            _(
                "%(source)s: expected at most %(most)s attributes, found %(found)s",
                source=source,
                most=digits(MOST_ATTRIBUTES),
                found=digits(several),
            )
        )
    return File(kind, encoding, Tree(root))


def _kind_of_json(root: Plain, source: str) -> str:
    if isinstance(root, dict) and isinstance(root.get("SurveyElements"), list):
        return QUALTRICS
    if isinstance(root, dict) and any(isinstance(root.get(key), list) for key in ("pages", "elements", "questions")):
        return SURVEYJS
    keys = ", ".join(list(root)[:10])[:200] if isinstance(root, dict) else type(root).__name__
    raise _unknown(source, _("JSON with %(keys)s", keys=keys or _("nothing")))


def _unknown(source: str, found: Sentence) -> UnreadableError:
    return UnreadableError(
        _(
            "%(source)s: expected a REDCap data dictionary, a survey of Qualtrics (QSF), LimeSurvey (LSS) or SurveyJS (JSON), or a table "
            "of questions with the column “text”; found %(found)s.",
            source=source,
            found=found,
        )
    )


def _json(text: str, source: str) -> Plain:
    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(name for name, times in Counter(name for name, _value in pairs).items() if times > 1)
            raise UnreadableError(_("%(source)s: “%(name)s” stands twice in one object.", source=source, name=twice[:40]))
        return found

    def no_number(word: str) -> object:
        raise UnreadableError(_("%(source)s: %(word)s is no number.", source=source, word=word))

    try:
        root = json.loads(text, object_pairs_hook=once, parse_constant=no_number)
    except json.JSONDecodeError as error:
        raise UnreadableError(
            _(
                "%(source)s: not readable as JSON: line %(line)s, column %(column)s: %(error)s",
                source=source,
                line=error.lineno,
                column=error.colno,
                error=error.msg,
            )
        ) from error
    except RecursionError as error:
        raise _too_deep(source) from error
    except ValueError as error:
        if isinstance(error, UnreadableError):
            raise
        raise UnreadableError(_("%(source)s: a number has too many digits.", source=source)) from error
    waiting: list[tuple[Plain, int]] = [(root, 1)]
    while waiting:
        one, level = waiting.pop()
        if level > DEEPEST:
            raise _too_deep(source)
        waiting += [(below, level + 1) for below in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())]
    return root


def _too_deep(source: str) -> UnreadableError:
    return UnreadableError(_("%(source)s: its parts stand more than %(most)s deep in each other.", source=source, most=DEEPEST))


class _Elements:
    """Builds plain values of elements. A document type could define entities that swell without end, so none is read."""

    def __init__(self, source: str) -> None:
        self.source, self.root = source, None
        self._open: list[tuple[str, dict[str, object], list[str]]] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= DEEPEST:
            raise _too_deep(self.source)
        self._open.append((name, {f"@{key}": value for key, value in attributes.items()}, []))

    def text(self, data: str) -> None:
        if self._open:
            self._open[-1][2].append(data)

    def end(self, _name: str) -> None:
        name, parts, texts = self._open.pop()
        said = "".join(texts).strip()
        value: Plain = parts | ({"#text": said} if said else {}) if parts else said
        if not self._open:
            self.root = value
            return
        siblings = self._open[-1][1]
        before = siblings.get(name)
        if isinstance(before, list):
            before.append(value)
        else:
            siblings[name] = value if name not in siblings else [before, value]

    def no_document_type(self, *_arguments: object) -> None:
        raise UnreadableError(_("%(source)s: a document type (DOCTYPE) is not read; remove it.", source=self.source))


def _xml(text: str, source: str) -> Plain:
    elements = _Elements(source)
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler, parser.EndElementHandler = elements.start, elements.end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = elements.text, elements.no_document_type
    parser.buffer_text = True
    try:
        parser.Parse(text.encode(errors="surrogatepass"), True)
    except expat.ExpatError as error:
        raise UnreadableError(
            _(
                "%(source)s: not readable as XML: line %(line)s, column %(column)s: %(error)s",
                source=source,
                line=error.lineno,
                column=error.offset,
                error=expat.ErrorString(error.code),
            )
        ) from error
    return elements.root


def _rows(text: str, source: str) -> tuple[Plain, str]:
    """The rows of a table by number and column, and the kind of table."""
    heading = text.lstrip("\r\n").partition("\n")[0]
    delimiter = max(",;\t", key=heading.count)
    try:
        header, *rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if any(row)] or [[]]
    except csv.Error as error:
        raise UnreadableError(_("%(source)s: not readable as CSV: %(error)s", source=source, error=str(error))) from error
    known = {plain: name for name, plain in REDCAP_COLUMNS.items()}
    header = [name.strip()[:80] or f"column {number}" for number, name in enumerate(header, start=1)]
    columns, kind = [known.get(re.sub(r"[^a-z]", "", name.lower()), name) for name in header], REDCAP
    if not set(NEEDED) <= set(columns):
        columns, kind = [name.lower() for name in header], TABLE
        if not any(name == "text" or name.startswith("text.") for name in columns):
            raise _unknown(source, _("a table with the columns %(columns)s", columns=", ".join(columns)[:200]) if header else _("nothing"))
    _require_size(len(rows), columns, source)
    numbered: dict[str, dict[str, str]] = {}
    for number, row in enumerate(rows, start=2):
        if len(row) > len(columns) and any(cell.strip() for cell in row[len(columns) :]):
            raise UnreadableError(
                _(
                    "%(source)s, row %(row)s: expected at most %(most)s cells, found %(found)s",
                    source=source,
                    row=number,
                    most=len(columns),
                    found=len(row),
                )
            )
        numbered[f"row {number}"] = dict(zip(columns, row, strict=False))
    return numbered, kind


def _require_size(rows: int, columns: list[str], source: str) -> None:
    if rows > MOST_ROWS:
        raise UnreadableError(
            _("%(source)s: expected at most %(most)s rows, found %(rows)s", source=source, most=digits(MOST_ROWS), rows=digits(rows))
        )
    if len(columns) > MOST_COLUMNS:
        raise UnreadableError(
            _("%(source)s: expected at most %(most)s columns, found %(found)s", source=source, most=MOST_COLUMNS, found=len(columns))
        )
    if repeated := sorted({name for name in columns if columns.count(name) > 1}):
        raise UnreadableError(
            _("%(source)s: these columns stand more than once: %(columns)s", source=source, columns=", ".join(repeated[:20]))
        )
