"""Reads a survey of Qualtrics (QSF): elements, of which SQ are questions, BL the blocks in which they stand, and FL the flow of blocks."""

import re
from collections.abc import Iterator, Mapping, Sequence

from candor.written_numbers import typed_number
from surveys.imports.conditions import Term
from surveys.imports.found import Choice, Found, Said, number_at
from surveys.imports.mapping import OWN_WORDS, Mapper
from surveys.imports.trees import Node
from surveys.reading.words import Sentence
from surveys.reading.words import sentence as _

ONE_CHOICE, SEVERAL_CHOICES = {"SAVR", "SAHR", "SACOL", "DL", "SB", "NPS"}, {"MAVR", "MAHR", "MACOL", "MSB"}
ONE_IN_A_ROW = {"SingleAnswer", "DL", ""}
SIGNS = {"EqualTo": "=", "GreaterThan": ">", "GreaterThanOrEqual": ">=", "LessThan": "<", "LessThanOrEqual": "<="}
FLOW = {
    "Branch": _("A branch of the flow cannot be kept; its blocks come for everybody."),
    "BlockRandomizer": _("Blocks cannot come by chance; arms are drawn by chance under Arms."),
    "Group": _("Groups of blocks are not kept."),
    "EmbeddedData": _("Candor keeps no embedded data."),
    "EndSurvey": _("The survey cannot end early."),
    "WebService": _("Candor asks no other server."),
    "Authenticator": _("Candor never asks who somebody is."),
    "Quota": _("Quotas belong to arms here."),
}
REASONS = {
    "DB": _("It is a text without an answer."),
    "FileUpload": _("Files cannot be asked for."),
    "Meta": _("It reads the browser of a person, which Candor never does."),
    "Timing": _("Candor stores no times."),
    "Captcha": _("Candor has no captcha."),
    "RO": _("Candor asks nobody to rank."),
    "CS": _("Candor asks nobody to share out points."),
    "SBS": _("Several tables side by side cannot be kept."),
}
LOCATOR = re.compile(r"q://(?P<question>QID[A-Za-z0-9_]{1,40})/(?P<what>[A-Za-z]{1,40})(/(?P<choice>[A-Za-z0-9_]{1,40}))?")


def read(root: Node, mapper: Mapper) -> None:
    """Give the mapper every question, in the order of the flow."""
    mapper.base = root.at("SurveyEntry", "SurveyLanguage").text.lower()
    root.at("SurveyEntry").lost(OWN_WORDS)
    elements = [one for one in root.at("SurveyElements").parts() if isinstance(one.value, dict)]
    by_kind: dict[str, list[Node]] = {}
    for element in elements:
        by_kind.setdefault(element.at("Element").text, []).append(element)
    questions = {_number_of(one): one for one in by_kind.get("SQ", [])}
    codes = {number: dict(_codes(element.at("Payload"))) for number, element in questions.items()}
    order = _order(by_kind)
    for number in [*(one for one in order if one in questions), *(one for one in questions if one not in order)]:
        found = _found(questions[number], number, codes, mapper.base)
        if number not in order:
            found.reason = _("No block of the survey asks it.")
        mapper.add(found)


def _number_of(element: Node) -> str:
    return element.at("Payload", "QuestionID").text or element.at("PrimaryAttribute").text or str(element.path[-1])


def _order(by_kind: Mapping[str, list[Node]]) -> list[str]:
    """The numbers of the questions as they come; blocks that the flow does not name, such as the trash, are left out."""
    blocks: dict[str, Node] = {}
    for element in by_kind.get("BL", []):
        for block in element.at("Payload").parts():
            blocks[block.at("ID").text or block.key] = block
    named = [number for element in by_kind.get("FL", []) for number in _flow(element.at("Payload", "Flow"))]
    if not by_kind.get("FL"):
        named = [number for number, block in blocks.items() if block.at("Type").text != "Trash"]
    order: list[str] = []
    for number in dict.fromkeys(named):
        if number in blocks:
            order += _asked_in(blocks[number])
    return list(dict.fromkeys(order))


def _flow(flow: Node) -> Iterator[str]:
    """The blocks in the flow's order. A step that hangs on chance or on answers is lost, with its reason."""
    waiting = flow.parts()[::-1]
    while waiting:
        step = waiting.pop()
        kind = step.at("Type").text
        if kind in ("Block", "Standard"):
            yield step.at("ID").text
            for key in ("ID", "Type", "FlowID"):
                step.at(key).taken("order")
        else:
            inside = [part for key in ("Flow", "Then", "Else") for part in step.at(key).parts() if isinstance(part.value, dict)]
            step.lost(FLOW.get(kind) or _("Candor's flow has no “%(type)s”.", type=kind[:80]))
            waiting.extend(reversed(inside))


def _asked_in(block: Node) -> Iterator[str]:
    for key in ("ID", "Type"):
        block.at(key).taken("order")
    options = block.at("Options")
    for key in [one for one in (options.value if isinstance(options.value, dict) else {}) if one.startswith("Looping")]:
        options.at(key).lost(_("A loop cannot be kept; its questions are asked once."))
    if options.at("RandomizeQuestions").text not in ("", "false"):
        options.at("RandomizeQuestions").lost(
            _("The order by chance of one block cannot be kept; draw that of all questions on their list.")
        )
    for element in block.at("BlockElements").parts():
        if element.at("Type").text == "Question":
            for key in ("Type", "QuestionID"):
                element.at(key).taken("order")
            yield element.at("QuestionID").text
        else:
            element.lost(_("Candor decides where a page ends."))


def _codes(payload: Node) -> Iterator[tuple[str, str]]:
    """The codes of the choices by their numbers."""
    for choice in _choices_at(payload, "Choices"):
        yield choice.key, _code_of(payload, choice.key)[0]


def _code_of(payload: Node, number: str) -> tuple[str, Node | None, Node | None]:
    """The code of a choice, where it stands, and a number beside it."""
    name, recoded = payload.at("VariableNaming", number), payload.at("RecodeValues", number)
    if name.text:
        return name.text, name, recoded if recoded.text else None
    return (recoded.text, recoded, None) if recoded.text else (number, None, None)


def _choices_at(payload: Node, key: str) -> list[Node]:
    """The choices or answers in their order."""
    given = {part.key: part for part in payload.at(key).parts()}
    order = payload.at("ChoiceOrder" if key == "Choices" else "AnswerOrder")
    order.taken("order")
    first = [part.text for part in order.parts() if part.text in given]
    return [given[number] for number in dict.fromkeys([*first, *given])]


def _found(element: Node, number: str, codes: Mapping[str, Mapping[str, str]], base: str) -> Found:
    payload = element.at("Payload")
    kind, selector = payload.at("QuestionType").text, payload.at("Selector").text
    settings = payload.at("Validation", "Settings")
    found = Found(
        name=payload.at("DataExportTag").text or number,
        named=payload.at("DataExportTag"),
        nodes=[element],
        kinds=[payload.at(key) for key in ("QuestionType", "Selector", "SubSelector")],
        said=_said(payload, base, "QuestionText"),
        required=settings.at("ForceResponse"),
        known_as=number,
        order=payload.at("Randomization", "Type"),
        shuffled=payload.at("Randomization", "Type").text == "All",
    )
    for node in (element.at("Element"), element.at("PrimaryAttribute"), payload.at("QuestionID")):
        node.taken("order")
    _take_repetitions(element, payload)
    _read_logic(found, payload.at("DisplayLogic"), codes)
    if kind == "MC" and selector in ONE_CHOICE | SEVERAL_CHOICES:
        found.kind = "choices" if selector in SEVERAL_CHOICES else "scale" if selector == "NPS" else "choice"
        found.options = _options(payload, base, "Choices")
    elif kind == "Matrix" and selector == "Likert" and payload.at("SubSelector").text in ONE_IN_A_ROW:
        found.kind, found.options = "matrix", _options(payload, base, "Answers")
        tags = payload.at("ChoiceDataExportTags")
        found.rows = [
            Choice(code=tags.at(row.key).text or row.key, said=_of(payload, base, "Choices", row.key), coded=_there(tags.at(row.key)))
            for row in _choices_at(payload, "Choices")
        ]
    elif kind == "Slider" and selector in ("HSLIDER", "HBAR"):
        _read_slider(found, payload, base)
    elif kind == "TE" and selector == "SL":
        _read_line(found, settings)
    else:
        text = _("Free text can tell who somebody is.") if kind == "TE" else None
        found.reason = text or REASONS.get(kind) or _unknown(f"{kind} {selector}".strip())
    return found


def _unknown(kind: str) -> Sentence:
    return _("Questions of type “%(type)s” are not known.", type=kind[:80])


def _take_repetitions(element: Node, payload: Node) -> None:
    """The short form of the question's text, which Qualtrics keeps beside it."""
    text = " ".join(payload.at("QuestionText").text.split())
    for node in (element.at("SecondaryAttribute"), payload.at("QuestionDescription")):
        words = " ".join(node.text.rstrip(".… ").split())
        if words and text.startswith(words):
            node.taken("text")


def _options(payload: Node, base: str, key: str) -> list[Choice]:
    found = []
    for choice in _choices_at(payload, key):
        code, coded, scored = _code_of(payload, choice.key)
        found.append(Choice(code=code, said=_of(payload, base, key, choice.key), coded=coded, scored=scored))
    return found


def _said(payload: Node, base: str, *path: str) -> Said:
    """A text in the survey's language and in all others."""
    first = [(base, payload.at(*path).text, payload.at(*path))]
    others = [(language.key.lower(), language.at(*path).text, language.at(*path)) for language in payload.at("Language").parts()]
    return [one for one in [*first, *others] if one[1]]


def _of(payload: Node, base: str, key: str, number: str) -> Said:
    if isinstance(payload.at(key).value, list):
        where = payload.at(key, int(number), "Display")
        return [(base, where.text, where)] if where.text else []
    return _said(payload, base, key, number, "Display")


def _there(node: Node) -> Node | None:
    return node if node.text else None


def _read_slider(found: Found, payload: Node, base: str) -> None:
    found.kind, settings = "slider", payload.at("Configuration")
    bars = payload.at("Choices").parts()
    if len(bars) > 1:
        found.reason = _("It has %(count)s sliders; ask each as a question.", count=len(bars))
    found.minimum, found.maximum = number_at(settings.at("CSSliderMin")), number_at(settings.at("CSSliderMax"))
    lines = number_at(settings.at("GridLines"))[0]
    snaps = settings.at("SnapToGrid")
    if snaps.says_yes and lines and found.minimum[0] is not None and found.maximum[0] is not None:
        found.step = ((found.maximum[0] - found.minimum[0]) / lines, settings.at("GridLines"))
        snaps.taken("bounds")
    words = [_said(payload, base, "Labels", label.key, "Display") for label in payload.at("Labels").parts()]
    found.low, found.high = (words[0], words[-1]) if len(words) > 1 else ((words[0], []) if words else ([], []))
    found.remarks = [
        (node, _("The words in the middle of its slider were not taken over.")) for said in words[1:-1] for _c, _t, node in said
    ]


def _read_line(found: Found, settings: Node) -> None:
    content = settings.at("ContentType").text if settings.at("Type").text == "ContentType" else ""
    settings.at("Type").taken("kind")
    if content == "ValidNumber":
        limits = settings.at("ValidNumber")
        found.kind, found.minimum, found.maximum = "number", number_at(limits.at("Min")), number_at(limits.at("Max"))
        found.whole = limits.at("NumDecimals").text == "0"
        found.whole_said = [settings.at("ContentType"), limits.at("NumDecimals")]
        if limits.at("NumDecimals").text not in ("", "0"):
            limits.at("NumDecimals").changed(_("Its number of decimal places was not taken over."))
    elif content.startswith("ValidDate"):
        found.kind = "date"
    elif content:
        found.reason = _("Free text and times can tell who somebody is.")
    else:
        found.kind, most = "words", settings.at("TotalChars")
        length = typed_number(most.text, whole=True)
        if settings.at("Type").text == "TotalChars":
            found.longest = (None if length is None else int(length), most)


def _read_logic(found: Found, logic: Node, codes: Mapping[str, Mapping[str, str]]) -> None:
    """Groups of expressions, of which each names its conjunction with the one before."""
    if not logic.parts():
        return
    found.condition = [logic]
    groups = [[one for one in group.parts() if isinstance(one.value, dict)] for group in logic.parts() if isinstance(group.value, dict)]
    joints = {group.at("Type").text for group in logic.parts() if isinstance(group.value, dict)} - {"If", "AndIf"}
    found.condition_said = "; ".join(
        f"{one.at('LeftOperand').text or one.at('ChoiceLocator').text} {one.at('Operator').text} {one.at('RightOperand').text}".strip()
        for group in groups
        for one in group
    )
    if joints and (len(groups) > 1 or joints - {"ElseIf", "OrIf"}):
        return
    read: list[Sequence[Term]] = []
    for group in groups:
        terms = [term for one in group if (term := _term(one, codes))]
        conjunctions = {one.at("Conjuction").text.lower() for one in group[1:]}
        if len(terms) < len(group) or len(conjunctions) > 1 or not conjunctions <= {"and", "or"}:
            return
        read += [terms] if conjunctions <= {"or"} else [[term] for term in terms]
    found.logic = read or None


def _term(one: Node, codes: Mapping[str, Mapping[str, str]]) -> Term | None:
    """A selected choice, or a comparison with a number."""
    found = LOCATOR.fullmatch(one.at("LeftOperand").text or one.at("ChoiceLocator").text)
    if found is None or one.at("LogicType").text not in ("", "Question"):
        return None
    if found["what"] == "SelectableChoice" and found["choice"] and one.at("Operator").text == "Selected":
        code = codes.get(found["question"], {}).get(found["choice"])
        return Term(found["question"], "=", "1", option=code) if code else None
    if found["what"] in ("ChoiceTextEntryValue", "ChoiceNumericEntryValue") and one.at("Operator").text in SIGNS:
        return Term(found["question"], SIGNS[one.at("Operator").text], one.at("RightOperand").text)
    return None
