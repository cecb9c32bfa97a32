"""Reads a survey of LimeSurvey (LSS): tables of a database as XML, with the texts beside the questions or, since version 4, apart."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from candor.written_numbers import typed_number
from surveys.imports.conditions import Term, groups_of
from surveys.imports.found import Choice, Found, Said, number_at
from surveys.imports.mapping import OWN_WORDS, Mapper
from surveys.imports.trees import Node
from surveys.reading.words import sentence as _

LISTS = {"L": "choice", "!": "choice", "O": "choice", "M": "choices", "P": "choices"}
FIXED = {
    "Y": ("choice", (("Y", "Yes"), ("N", "No"))),
    "G": ("choice", (("F", "Female"), ("M", "Male"))),
    "5": ("scale", tuple((str(number), str(number)) for number in range(1, 6))),
    "A": ("matrix", tuple((str(number), str(number)) for number in range(1, 6))),
    "B": ("matrix", tuple((str(number), str(number)) for number in range(1, 11))),
    "C": ("matrix", (("Y", "Yes"), ("U", "Uncertain"), ("N", "No"))),
    "E": ("matrix", (("I", "Increase"), ("S", "Same"), ("D", "Decrease"))),
}
"""Kinds whose answers LimeSurvey writes itself, in the words of its pages."""
REASONS = {
    "T": _("Free text can tell who somebody is."),
    "U": _("Free text can tell who somebody is."),
    "Q": _("Free text can tell who somebody is."),
    "X": _("It is a text without an answer."),
    "*": _("It is calculated, not asked."),
    "|": _("Files cannot be asked for."),
    "R": _("Candor asks nobody to rank."),
    "I": _("Everybody chooses a language on the first page already."),
    "K": _("It asks for several numbers; ask each as a question."),
    "1": _("Two scales in one table cannot be kept."),
    ":": _("A table of numbers cannot be kept."),
    ";": _("A table of texts cannot be kept."),
}
KEYS = ("qid", "parent_qid", "gid", "sid", "aid", "id", "question_order", "sortorder", "scale_id", "cid", "cqid", "qaid")
"""Columns that only tie rows together and put them in order."""
TERM = re.compile(
    r"""(?P<field>[A-Za-z][A-Za-z0-9_]*)(\.(NAOK|value|code))?\s*(?P<sign>>=|<=|==|>|<)\s*(?P<quote>["']?)(?P<value>[^"'()]*)(?P=quote)"""
)
TABLES = ("questions", "subquestions", "answers", "question_attributes", "conditions", "question_l10ns", "answer_l10ns", "groups")


@dataclass(frozen=True, slots=True)
class _Tables:
    """The rows of the tables that questions need, by what ties them together."""

    by_question: Mapping[str, Mapping[str, list[Node]]]
    children: Mapping[str, list[Node]]
    """Subquestions by the number of their question, each once."""
    texts_of_answers: Mapping[str, list[Node]]
    kinds: Mapping[str, str]
    """The kind of each question by its title."""


def read(root: Node, mapper: Mapper) -> None:
    """Give the mapper every question, group by group."""
    mapper.base = (_rows(root, "surveys")[0].at("language").text if _rows(root, "surveys") else "").lower()
    tables = _tables(root)
    for name in ("languages", "surveys", "surveys_languagesettings"):
        root.at(name).lost(OWN_WORDS)
    for name in root.value:
        for part in root.at(name, "fields", "fieldname").parts() or [root.at(name, "fields", "fieldname")]:
            part.taken("order")
    groups = {row.at("gid").text: _place(row.at("group_order")) for row in _rows(root, "groups")}
    for row in _rows(root, "groups"):
        for key in ("gid", "group_order"):
            row.at(key).taken("order")
        if row.at("grelevance").text not in ("", "1"):
            row.at("grelevance").lost(_("A group has no condition here; its questions are always asked, unless they have one."))
    firsts: dict[str, Node] = {}
    for row in _rows(root, "questions"):
        if row.at("parent_qid").text in ("", "0"):
            firsts.setdefault(row.at("qid").text, row)
    order = sorted(firsts.values(), key=lambda row: (groups.get(row.at("gid").text, 0), _place(row.at("question_order"))))
    for row in order:
        mapper.add(_found(row, tables, mapper.base))


def _rows(root: Node, table: str) -> list[Node]:
    rows = root.at(table, "rows", "row")
    return [one for one in (rows.parts() if isinstance(rows.value, list) else [rows]) if isinstance(one.value, dict)]


def _tables(root: Node) -> _Tables:
    by_question: dict[str, dict[str, list[Node]]] = defaultdict(lambda: defaultdict(list))
    texts_of_answers: dict[str, list[Node]] = defaultdict(list)
    children: dict[str, dict[str, Node]] = defaultdict(dict)
    kinds: dict[str, str] = {}
    for table in TABLES:
        for row in _rows(root, table):
            by_question[row.at("qid").text][table].append(row)
            parent = row.at("parent_qid").text
            if table in ("questions", "subquestions") and parent not in ("", "0"):
                children[parent].setdefault(row.at("qid").text, row)
            elif table == "questions":
                kinds[row.at("title").text] = row.at("type").text
            elif table == "answer_l10ns":
                texts_of_answers[row.at("aid").text].append(row)
    return _Tables(
        by_question,
        {parent: sorted(rows.values(), key=lambda row: _place(row.at("question_order"))) for parent, rows in children.items()},
        texts_of_answers,
        kinds,
    )


def _found(row: Node, tables: _Tables, base: str) -> Found:
    number, kind = row.at("qid").text, row.at("type").text
    own, children = tables.by_question[number], tables.children.get(number, [])
    of_children = [one for child in children for rows in tables.by_question[child.at("qid").text].values() for one in rows]
    of_answers = [one for answer in own["answers"] for one in tables.texts_of_answers[answer.at("aid").text]]
    nodes = [
        row,
        *(one for name, rows in own.items() if name != "groups" for one in rows if one.path != row.path),
        *of_children,
        *of_answers,
    ]
    for node in nodes:
        for key in KEYS:
            node.at(key).taken("order")
    attributes = {one.at("attribute").text: one for one in own["question_attributes"]}
    found = Found(
        name=row.at("title").text,
        named=row.at("title"),
        nodes=list({node.path: node for node in nodes}.values()),
        kinds=[row.at("type")],
        said=_texts([*own["questions"], *own["question_l10ns"]], "question", base),
        hint=_texts([*own["questions"], *own["question_l10ns"]], "help", base),
        required=row.at("mandatory"),
        known_as=row.at("title").text,
    )
    if row.at("other").text == "N":
        row.at("other").taken()
    else:
        found.remarks.append((row.at("other"), _("An answer in own words beside the choices cannot be kept.")))
    _read_logic(found, row.at("relevance"), own["conditions"], tables)
    _read_kind(found, kind, row, own, children, tables, base)
    _read_attributes(found, attributes)
    return found


def _read_kind(found: Found, kind: str, row: Node, own: Mapping[str, list[Node]], children: list[Node], tables: _Tables, base: str) -> None:
    parts = [_part(child, tables, base) for child in children]
    if kind in LISTS:
        found.kind = LISTS[kind]
        found.options = parts if found.kind == "choices" else _answers(own, tables, base)
        if kind in ("O", "P"):
            found.remarks.append((row.at("type"), _("A remark in own words beside the choices cannot be kept.")))
    elif kind in FIXED:
        found.kind, fixed = FIXED[kind]
        found.options = [Choice(code=code, said=[("", text, row.at("type"))]) for code, text in fixed]
        found.yes_no = ("Y", "N") if kind == "Y" else None
    elif kind in ("F", "H"):
        found.kind, found.options = "matrix", _answers(own, tables, base)
    elif kind == "N":
        found.kind = "number"
    elif kind == "D":
        found.kind = "date"
    elif kind == "S":
        found.kind = "words"
    else:
        found.reason = REASONS.get(kind) or _("Questions of type “%(type)s” are not known.", type=kind[:80])
    if found.kind == "matrix":
        found.rows, found.rows_known_as = parts, [f"{found.name}_{part.code}" for part in parts]


def _read_attributes(found: Found, attributes: Mapping[str, Node]) -> None:
    """LimeSurvey keeps more about a question in rows of a name and a value."""

    def value(name: str) -> Node | None:
        if name not in attributes or not attributes[name].at("value").text:
            return None
        for key in ("attribute", "qid", "language"):
            attributes[name].at(key).taken("bounds")
        return attributes[name].at("value")

    if found.kind == "number":
        found.minimum, found.maximum = (
            (number_at(node) if (node := value(name)) else None) for name in ("min_num_value_n", "max_num_value_n")
        )
        whole = value("num_value_int_only")
        found.whole, found.whole_said = bool(whole and whole.says_yes), [whole] if whole else []
    elif found.kind == "date":
        found.earliest, found.latest = (((node.text, node) if (node := value(name)) else None) for name in ("date_min", "date_max"))
    elif found.kind == "words" and (most := value("maximum_chars")):
        length = typed_number(most.text, whole=True)
        found.longest = (None if length is None else int(length), most)
    for name in ("random_order", "answer_order", "subquestion_order"):
        if (order := value(name)) is not None:
            found.order, found.shuffled = order, order.text in ("1", "random")


def _part(child: Node, tables: _Tables, base: str) -> Choice:
    """A row of a table, or one of several choices."""
    own = tables.by_question[child.at("qid").text]
    rows = [*own["questions"], *own["subquestions"], *own["question_l10ns"]]
    return Choice(code=child.at("title").text, said=_texts(rows, "question", base), coded=child.at("title"))


def _answers(own: Mapping[str, list[Node]], tables: _Tables, base: str) -> list[Choice]:
    """The answers of a list, in their order; older files have a row for each language of one code."""
    by_code: dict[str, list[Node]] = defaultdict(list)
    for row in sorted(own["answers"], key=lambda row: _place(row.at("sortorder"))):
        by_code[row.at("code").text].append(row)
    found = []
    for code, rows in by_code.items():
        for row in rows[1:]:
            row.at("code").taken("codes")
        texts = _texts([*rows, *(one for row in rows for one in tables.texts_of_answers[row.at("aid").text])], "answer", base)
        found.append(Choice(code=code, said=texts, coded=rows[0].at("code")))
    return found


def _texts(rows: Iterable[Node], column: str, base: str) -> Said:
    """The texts of a column, each in the language of its row."""
    found = []
    for row in rows:
        row.at("language").taken("text")
        if row.at(column).text:
            found.append((row.at("language").text or base, row.at(column).text, row.at(column)))
    return found


def _read_logic(found: Found, relevance: Node, conditions: list[Node], tables: _Tables) -> None:
    logic = relevance.text
    if logic not in ("", "1"):
        found.condition, found.condition_said = [relevance, *conditions], logic
        found.logic = groups_of(logic, _reader(tables))
        return
    relevance.taken("condition")
    if not conditions:
        return
    titles = {one.at("qid").text: one.at("title").text for rows in tables.by_question.values() for one in rows.get("questions", [])}
    by_question: dict[str, list[Term]] = defaultdict(list)
    for row in conditions:
        title, sign = titles.get(row.at("cqid").text, ""), row.at("method").text.replace("==", "=")
        by_question[title].append(Term(title, sign, row.at("value").text))
    found.condition, found.logic = conditions, list(by_question.values())
    found.condition_said = ", ".join(f"{term.field} {term.sign} {term.value}" for terms in found.logic for term in terms)
    if len({row.at("scenario").text for row in conditions}) > 1:
        found.logic = None


def _reader(tables: _Tables) -> Callable[[str], Term | None]:
    def term(text: str) -> Term | None:
        found = TERM.fullmatch(text.strip())
        if found is None:
            return None
        title, _sign, code = found["field"].partition("_")
        if LISTS.get(tables.kinds.get(title, "")) == "choices":
            return Term(title, "=", "1", option=code) if found["value"] == "Y" and found["sign"] == "==" else None
        return Term(found["field"], found["sign"].replace("==", "="), found["value"].strip())

    return term


def _place(node: Node) -> int:
    number = typed_number(node.text, whole=True)
    return 0 if number is None else int(number)
