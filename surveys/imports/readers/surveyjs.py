"""Reads a survey of SurveyJS: pages with elements, of which panels hold others."""

import re
from collections.abc import Iterator

from candor.written_numbers import typed_number
from surveys.imports.conditions import Groups, Term, groups_of
from surveys.imports.found import Choice, Found, Said, number_at
from surveys.imports.mapping import OWN_WORDS, Mapper
from surveys.imports.trees import Node
from surveys.reading.words import sentence as _

HOLDERS = ("pages", "elements", "questions")
CHOICE = {"radiogroup": "choice", "dropdown": "choice", "checkbox": "choices", "tagbox": "choices"}
REASONS = {
    "comment": _("Free text can tell who somebody is."),
    "html": _("It is a text without an answer."),
    "image": _("It is a picture without an answer."),
    "expression": _("It is calculated, not asked."),
    "file": _("Files cannot be asked for."),
    "signaturepad": _("A signature tells who somebody is."),
    "ranking": _("Candor asks nobody to rank."),
    "paneldynamic": _("A panel that repeats its questions cannot be kept."),
    "matrixdynamic": _("A matrix whose rows people add cannot be kept."),
    "matrixdropdown": _("A matrix with several kinds of answers cannot be kept."),
}
SIGN, VALUE = r">=|<=|==?|>|<|contains|anyof", r"""(?P<quote>['"]?)(?P<value>[^'"(){}\[\]]*)(?P=quote)"""
TERM = re.compile(rf"\{{(?P<field>[^{{}}]{{1,100}})\}}\s*(?P<sign>{SIGN})\s*{VALUE}")


def read(root: Node, mapper: Mapper) -> None:
    """Give the mapper every question, in its order."""
    mapper.base = (root.at("locale").text or "en").lower()
    for key in ("title", "description", "locale", "completedHtml"):
        root.at(key).lost(OWN_WORDS)
    for element in _elements(root):
        mapper.add(_found(element, mapper.base))


def _elements(holder: Node, *, within: Node | None = None) -> Iterator[Node]:
    """The questions below, without the pages and panels that hold them. Their own conditions are lost."""
    waiting = [holder]
    while waiting:
        one = waiting.pop()
        inside = [part for key in HOLDERS for part in one.at(key).parts() if isinstance(part.value, dict)]
        if one.at("type").text in ("", "panel") and (inside or one.at("type").text == "panel" or one is holder):
            one.at("visibleIf").lost(_("A page or panel has no condition here; its questions are always asked, unless they have one."))
            waiting.extend(reversed(inside))
        elif one.at("type").text or one.at("name").text:
            yield one


def _found(element: Node, base: str) -> Found:
    kind = element.at("type").text
    logic = element.at("visibleIf").text
    found = Found(
        name=element.at("name").text,
        named=element.at("name"),
        nodes=[element],
        kinds=[element.at("type")],
        said=_said(element.at("title"), base) or [("", element.at("name").text, element.at("name"))],
        hint=_said(element.at("description"), base),
        required=element.at("isRequired"),
        known_as=element.at("name").text,
        logic=_logic(logic),
        condition=[element.at("visibleIf")] if logic else [],
        condition_said=logic,
    )
    if element.at("inputType").text:
        found.kinds = [element.at("type"), element.at("inputType")]
    if kind in CHOICE:
        found.kind, found.options = CHOICE[kind], [_choice(part, base) for part in element.at("choices").parts()]
        _read_order(found, element.at("choicesOrder"))
    elif kind == "boolean":
        _read_boolean(found, element, base)
    elif kind == "rating":
        _read_rating(found, element, base)
    elif kind == "matrix":
        found.kind, found.options = "matrix", [_choice(part, base) for part in element.at("columns").parts()]
        found.rows = [_choice(part, base) for part in element.at("rows").parts()]
        found.rows_known_as = [f"{found.name}.{row.code}" for row in found.rows]
        _read_order(found, element.at("rowOrder" if element.at("rowOrder").text else "rowsOrder"))
    elif kind == "slider":
        found.kind, found.minimum, found.maximum = "slider", number_at(element.at("min")), number_at(element.at("max"))
        found.step = number_at(element.at("step")) if element.at("step").text else None
    elif kind == "text":
        _read_text(found, element)
    else:
        found.reason = REASONS.get(kind) or _("Questions of type “%(type)s” are not known.", type=kind[:80])
    return found


def _read_boolean(found: Found, element: Node, base: str) -> None:
    found.kind = "choice"
    coded = {key: element.at(key) for key in ("valueTrue", "valueFalse")}
    codes = [coded["valueTrue"].text or "true", coded["valueFalse"].text or "false"]
    labels = [_said(element.at("labelTrue"), base) or [("", "Yes", element.at("type"))]]
    labels += [_said(element.at("labelFalse"), base) or [("", "No", element.at("type"))]]
    nodes = [node if node.text else None for node in coded.values()]
    found.options = [Choice(code=code, said=said, coded=node) for code, said, node in zip(codes, labels, nodes, strict=True)]
    found.yes_no = (codes[0], codes[1])


def _read_rating(found: Found, element: Node, base: str) -> None:
    found.kind = "scale"
    if values := element.at("rateValues").parts():
        found.options = [_choice(part, base) for part in values]
        return
    keys = ("rateMin", "rateMax", "rateStep", "rateCount")
    numbers = {key: float(number) for key in keys if (number := typed_number(element.at(key).text)) is not None}
    least, step = numbers.get("rateMin", 1.0), numbers.get("rateStep", 1.0)
    most = numbers.get("rateMax", least + step * (numbers.get("rateCount", 5.0) - 1))
    count = int((most - least) / step) + 1 if step > 0 and least < most and (most - least) / step < 100 else 0
    for key in keys:
        element.at(key).taken("options")
    ends = {0: _said(element.at("minRateDescription"), base), count - 1: _said(element.at("maxRateDescription"), base)}
    numbered = [f"{least + step * place:.15g}" for place in range(count)]
    found.options = [
        Choice(code=code, said=[(language, f"{code} ({words})", node) for language, words, node in ends.get(place, [])] or
               [("", code, element.at("type"))])
        for place, code in enumerate(numbered)
    ]  # fmt: skip


def _read_text(found: Found, element: Node) -> None:
    kind = element.at("inputType").text or "text"
    if kind in ("number", "range"):
        found.kind = "number" if kind == "number" else "slider"
        found.minimum, found.maximum = number_at(element.at("min")), number_at(element.at("max"))
        step = number_at(element.at("step"))
        found.step = step if step[0] else None
        found.whole = step[0] is None or step[0].is_integer()
        found.whole_said = [element.at("step")] if step[0] else []
    elif kind in ("date", "month"):
        found.kind, found.whole = "date", kind == "date"
        found.earliest = (element.at("min").text, element.at("min"))
        found.latest = (element.at("max").text, element.at("max"))
    elif kind == "text":
        found.kind = "words"
        most = typed_number(element.at("maxLength").text, whole=True)
        found.longest = (None if most is None else int(most), element.at("maxLength")) if element.at("maxLength").text else None
    else:
        found.reason = _("Free text and times can tell who somebody is.")


def _read_order(found: Found, order: Node) -> None:
    found.order, found.shuffled = order, order.text == "random"
    if order.text not in ("", "none", "initial", "random"):
        order.lost(_("Candor keeps an order or draws it by chance."))


def _choice(part: Node, base: str) -> Choice:
    if isinstance(part.value, dict):
        coded = part.at("value")
        return Choice(code=coded.text, said=_said(part.at("text"), base) or [("", coded.text, coded)], coded=coded)
    return Choice(code=part.text, said=[("", part.text, part)], coded=part)


def _said(node: Node, base: str) -> Said:
    """A text, or one for each language, of which `default` is in the language of the survey."""
    if isinstance(node.value, dict):
        return [(base if part.key == "default" else part.key, part.text, part) for part in node.parts()]
    return [(base, node.text, node)] if node.text else []


def _logic(logic: str) -> Groups | None:
    return groups_of(logic, _term) if logic else None


def _term(text: str) -> Term | None:
    found = TERM.fullmatch(text.strip())
    if found is None:
        return None
    if found["sign"] in ("contains", "anyof"):
        return Term(found["field"], "=", "1", option=found["value"].strip())
    return Term(found["field"], found["sign"].replace("==", "="), found["value"].strip())
