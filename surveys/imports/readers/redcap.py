"""Reads a REDCap data dictionary: one field in each row, rows of a matrix one after another."""

import re
from collections.abc import Iterator
from itertools import groupby

from surveys.imports.conditions import Groups, Term, groups_of
from surveys.imports.found import Choice, Found, number_at
from surveys.imports.mapping import Mapper
from surveys.imports.trees import Node
from surveys.reading.words import sentence as _

NAME, FORM, HEADER, TYPE, LABEL = "Variable / Field Name", "Form Name", "Section Header", "Field Type", "Field Label"
CHOICES, NOTE = "Choices, Calculations, OR Slider Labels", "Field Note"
VALIDATION, LOWEST, HIGHEST = "Text Validation Type OR Show Slider Number", "Text Validation Min", "Text Validation Max"
IDENTIFIER, BRANCHING, REQUIRED = "Identifier?", "Branching Logic (Show field only if...)", "Required Field?"
ANNOTATION, MATRIX, RANKING = "Field Annotation", "Matrix Group Name", "Matrix Ranking?"
NUMBERS = {"integer": True, "number": False, "number_1dp": False, "number_2dp": False, "number_3dp": False, "number_4dp": False}
FIXED_CHOICES = {"yesno": (("1", "Yes"), ("0", "No")), "truefalse": (("1", "True"), ("0", "False"))}
REASONS = {
    "notes": _("Free text can tell who somebody is."),
    "calc": _("It is calculated, not asked."),
    "file": _("Files cannot be asked for."),
    "descriptive": _("It is a text without an answer."),
    "sql": _("Its choices come from a database."),
}
TERM = re.compile(
    r"""\[(?P<field>\w+)(\((?P<code>[\w-]+)\))?\]\s*(?P<sign>=|>=|<=|>|<)\s*(?P<quote>['"]?)(?P<value>[^'"()\[\]]*?)(?P=quote)\s*"""
)


def read(root: Node, mapper: Mapper) -> None:
    """Give the mapper every field; the first row is the number of the record."""
    fields = root.parts()
    for _matrix_or_place, run in groupby(enumerate(fields), key=lambda one: _matrix_of(one[1]) or one[0]):
        rows = [cells for _place, cells in run]
        for cells in rows:
            _say_what_every_field_loses(cells)
        if _makes_a_matrix(rows):
            mapper.add(_matrix(rows))
        else:
            for cells in rows:
                found = _found(cells)
                if cells.path == fields[0].path and found.kind == "words":
                    found.reason = _("It is the number of the record.")
                mapper.add(found)


def _say_what_every_field_loses(cells: Node) -> None:
    cells.at(FORM).lost(_("All instruments became one list of questions."))
    cells.at(ANNOTATION).lost(_("Candor knows no action tags."))
    if not cells.at(IDENTIFIER).says_yes:
        cells.at(IDENTIFIER).taken()
    if not cells.at(RANKING).says_yes:
        cells.at(RANKING).taken()


def _matrix_of(cells: Node) -> tuple[str, str] | None:
    """The same for fields that make one matrix."""
    matrix = cells.at(MATRIX).text
    return (matrix, cells.at(CHOICES).text) if matrix and cells.at(TYPE).text.lower() == "radio" else None


def _makes_a_matrix(rows: list[Node]) -> bool:
    """Whether the fields can be rows on one scale; each is a question of its own otherwise."""
    if _matrix_of(rows[0]) is None or not rows[0].at(HEADER).text or any(one.at(IDENTIFIER).says_yes for one in rows):
        return False
    return len({one.at(BRANCHING).text for one in rows}) == 1 and all(one.at(LABEL).text for one in rows)


def _matrix(rows: list[Node]) -> Found:
    first, name = rows[0], rows[0].at(MATRIX)
    for cells in rows[1:]:
        cells.at(CHOICES).taken("options")
        cells.at(TYPE).taken("kind")
        cells.at(MATRIX).taken("name")
        cells.at(HEADER).lost(_("A heading stands within a matrix."))
        note = _("It had to be answered; here nobody has to answer it.")
        cells.at(REQUIRED).lost(note) if cells.at(REQUIRED).says_yes else cells.at(REQUIRED).taken()
    logic = first.at(BRANCHING).text
    return Found(
        name=name.text,
        named=name,
        nodes=rows,
        kind="matrix",
        kinds=[first.at(TYPE)],
        said=[("", first.at(HEADER).text, first.at(HEADER))],
        options=_choices(first),
        rows=[Choice(code=one.at(NAME).text, said=[("", one.at(LABEL).text, one.at(LABEL))], coded=one.at(NAME)) for one in rows],
        rows_known_as=[one.at(NAME).text.lower() for one in rows],
        required=first.at(REQUIRED),
        logic=_logic(logic),
        condition=[one.at(BRANCHING) for one in rows] if logic else [],
        condition_said=logic,
    )


def _found(cells: Node) -> Found:
    kind, validation = cells.at(TYPE).text.lower(), cells.at(VALIDATION).text.lower()
    logic = cells.at(BRANCHING).text
    found = Found(
        name=cells.at(NAME).text,
        named=cells.at(NAME),
        nodes=[cells],
        kinds=[cells.at(TYPE)],
        said=[("", cells.at(LABEL).text, cells.at(LABEL))],
        hint=[("", cells.at(NOTE).text, cells.at(NOTE))],
        identifier=cells.at(IDENTIFIER).says_yes,
        required=cells.at(REQUIRED),
        known_as=cells.at(NAME).text.lower(),
        logic=_logic(logic),
        condition=[cells.at(BRANCHING)] if logic else [],
        condition_said=logic,
    )
    found.remarks = [(cells.at(HEADER), _("The heading above it was not taken over."))] if cells.at(HEADER).text else []
    if kind in ("radio", "dropdown", "checkbox", *FIXED_CHOICES):
        found.kind, found.options = "choices" if kind == "checkbox" else "choice", _choices(cells)
        found.yes_no = ("1", "0") if kind in FIXED_CHOICES else None
    elif kind == "slider":
        found.kind, found.minimum, found.maximum = "slider", number_at(cells.at(LOWEST)), number_at(cells.at(HIGHEST))
        words = [part.strip() for part in cells.at(CHOICES).text.split("|")]
        found.low = [("", words[0], cells.at(CHOICES))]
        found.high = [("", words[-1], cells.at(CHOICES))] if len(words) > 1 else []
        cells.at(VALIDATION).taken("bounds")  # the number is always shown
        if any(words[1:-1]):
            cells.at(CHOICES).changed(_("The words in the middle of its slider were not taken over."))
    elif kind != "text":
        found.reason = REASONS.get(kind) or _("Fields of type “%(type)s” are not known.", type=kind[:80])
    elif validation.startswith("date"):
        found.kind, found.kinds = "date", [cells.at(TYPE), cells.at(VALIDATION)]
        found.earliest = (cells.at(LOWEST).text, cells.at(LOWEST))
        found.latest = (cells.at(HIGHEST).text, cells.at(HIGHEST))
    elif not validation:
        found.kind = "words"
    elif validation in NUMBERS:
        found.kind, found.whole, found.whole_said = "number", NUMBERS[validation], [cells.at(VALIDATION)]
        found.minimum, found.maximum = number_at(cells.at(LOWEST)), number_at(cells.at(HIGHEST))
        if validation.endswith("dp"):
            cells.at(VALIDATION).changed(_("Its number of decimal places was not taken over."))
    else:
        found.reason = _("Free text and times can tell who somebody is.")
    return found


def _choices(cells: Node) -> list[Choice]:
    """`1, One | 2, Two`; the choices of yes and no stand in no cell."""
    where = cells.at(CHOICES)
    if fixed := FIXED_CHOICES.get(cells.at(TYPE).text.lower()):
        return [Choice(code=code, said=[("", text, cells.at(TYPE))]) for code, text in fixed]
    return list(_split(where))


def _split(where: Node) -> Iterator[Choice]:
    for choice in where.text.split("|"):
        code, comma, text = (part.strip() for part in choice.partition(","))
        if code or text:
            yield Choice(code=code, said=[("", text if comma else code, where)], coded=where)


def _logic(logic: str) -> Groups | None:
    return groups_of(logic, _term) if logic else None


def _term(text: str) -> Term | None:
    found = TERM.fullmatch(text.strip())
    return Term(found["field"].lower(), found["sign"], found["value"].strip(), found["code"]) if found else None
