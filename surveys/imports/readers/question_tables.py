"""Reads a table of questions: a row for each, with the columns that somebody writes in a spreadsheet."""

from candor.written_numbers import typed_number
from surveys.imports.found import Choice, Found, Said, number_at
from surveys.imports.mapping import Mapper
from surveys.imports.trees import Node
from surveys.reading.words import sentence as _

KINDS = {
    "": "",
    "single_choice": "choice",
    "multiple_choice": "choices",
    "ordinal_scale": "scale",
    "matrix": "matrix",
    "number": "number",
    "slider": "slider",
    "date": "date",
    "short_text": "words",
}
BETWEEN = "|"


def read(root: Node, mapper: Mapper) -> None:
    """Give the mapper every row. Texts may have a column for each language, such as `text.de`."""
    for cells in root.parts():
        mapper.add(_found(cells))


def _found(cells: Node) -> Found:
    kind = cells.at("kind").text.lower()
    found = Found(
        name=cells.at("name").text or next((text for _language, text, _node in _said(cells, "text") if text), ""),
        named=cells.at("name") if cells.at("name").text else None,
        nodes=[cells],
        kinds=[cells.at("kind")],
        said=_said(cells, "text"),
        hint=_said(cells, "hint"),
        required=cells.at("required"),
        options=_choices(cells, "options"),
        rows=_choices(cells, "rows"),
    )
    found.kind = KINDS.get(kind, "") or ("choice" if found.options else "words")
    if kind not in KINDS:
        found.reason = _("Questions of type “%(type)s” are not known.", type=kind[:80])
    found.minimum, found.maximum = (number_at(cells.at(end)) for end in ("minimum", "maximum"))
    found.step = number_at(cells.at("step")) if cells.at("step").text else None
    found.whole = not any(end[0] is not None and not end[0].is_integer() for end in (found.minimum, found.maximum))
    found.low, found.high = _said(cells, "low"), _said(cells, "high")
    found.earliest, found.latest = ((cells.at(end).text, cells.at(end)) for end in ("earliest", "latest"))
    if found.kind == "date":
        found.whole = len(cells.at("earliest").text) > len("2004-09")
    longest = typed_number(cells.at("longest").text, whole=True)
    found.longest = (None if longest is None else int(longest), cells.at("longest")) if cells.at("longest").text else None
    return found


def _said(cells: Node, column: str) -> Said:
    keys = [key for key in cells.value if key == column or key.startswith(f"{column}.")]
    return [(key.partition(".")[2], cells.at(key).text, cells.at(key)) for key in keys if cells.at(key).text]


def _choices(cells: Node, column: str) -> list[Choice]:
    """`Pen | Tablet`, or `pen = Pen | tablet = Tablet`; other languages have as many, in the same order."""
    found: list[Choice] = []
    for language, written, node in _said(cells, column):
        for place, part in enumerate(one.strip() for one in written.split(BETWEEN)):
            code, sign, text = (one.strip() for one in part.partition("="))
            said = (language, text if sign and code else part, node)
            if place < len(found):
                found[place] = Choice(code=found[place].code, said=[*found[place].said, said], coded=found[place].coded)
            elif part and not (found and found[0].coded is not node):
                found.append(Choice(code=code if sign else part, said=[said], coded=node if sign and code else None))
    return found
