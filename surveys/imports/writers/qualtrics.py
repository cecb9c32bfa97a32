"""Background questions as a survey of Qualtrics (QSF)."""

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from surveys.questions.background import (
    BackgroundQuestion,
    Circle,
    Date,
    Group,
    Matrix,
    MultipleChoice,
    Number,
    OrdinalScale,
    ShortText,
    SingleChoice,
    Slider,
)
from surveys.questions.conditions import Condition
from surveys.questions.parts import Text
from surveys.reading.markup import without_markup

SURVEY, BLOCK = "SV_candor", "BL_candor"
Payload = dict[str, Any]
Choices = SingleChoice | MultipleChoice | OrdinalScale


def written(questions: Sequence[BackgroundQuestion], *, title: str, languages: Sequence[str]) -> tuple[str, list[tuple[str, str]]]:
    """The survey in all languages, and by question what its reader should know."""
    known = [(question.name, sentence) for question in questions for sentence in _to_know(question)]
    asked = [question for question in questions if not isinstance(question, Group | Circle | Date)]
    numbers = {question.name: f"QID{number}" for number, question in enumerate(asked, start=1)}
    by_name = {question.name: question for question in asked}
    elements = [_blocks(list(numbers.values())), _flow()]
    for question in asked:
        payload = _payload(question, languages) | {"QuestionID": numbers[question.name]}
        if question.show_if:
            logic = _logic(question.show_if, numbers, by_name)
            if logic is None:
                known.append((question.name, _("Its condition cannot be said there: it is always shown.")))
            else:
                payload["DisplayLogic"] = logic
        elements.append(_element("SQ", numbers[question.name], payload, second=payload["QuestionText"][:99]))
    entry = {"SurveyID": SURVEY, "SurveyName": title, "SurveyLanguage": languages[0].upper(), "SurveyStatus": "Inactive"}
    return json.dumps({"SurveyEntry": entry, "SurveyElements": elements}, ensure_ascii=False, indent=1), known


def _element(kind: str, first: str, payload: object, *, second: str | None = None) -> Payload:
    names = {"SurveyID": SURVEY, "Element": kind, "PrimaryAttribute": first, "SecondaryAttribute": second, "TertiaryAttribute": None}
    return {**names, "Payload": payload}


def _blocks(numbers: Sequence[str]) -> Payload:
    asked = [{"Type": "Question", "QuestionID": number} for number in numbers]
    return _element("BL", "Survey Blocks", [{"Type": "Default", "Description": "Background", "ID": BLOCK, "BlockElements": asked}])


def _flow() -> Payload:
    return _element("FL", "Survey Flow", {"Type": "Root", "FlowID": "FL_1", "Flow": [{"Type": "Block", "ID": BLOCK, "FlowID": "FL_2"}]})


def _safe(text: str) -> str:
    """The text as Qualtrics reads it, which is HTML."""
    return text if without_markup(text) == (text, []) else html.escape(text, quote=False)


def _payload(question: BackgroundQuestion, languages: Sequence[str]) -> Payload:
    first, *others = languages
    payload: Payload = {
        "QuestionText": _safe(question.text.in_language(first)),
        "DataExportTag": question.name,
        "Configuration": {"QuestionDescriptionOption": "UseText"},
        "Validation": {"Settings": {"ForceResponse": "OFF", "Type": "None"}},
        "Language": {code.upper(): {"QuestionText": _safe(question.text.in_language(code))} for code in others} or [],
    }
    match question:
        case SingleChoice() | OrdinalScale() | MultipleChoice():
            selector = "MAVR" if isinstance(question, MultipleChoice) else "SAVR"
            payload |= {"QuestionType": "MC", "Selector": selector, "SubSelector": "TX"}
            payload |= _listed(payload, "Choices", [(one.name, one.text) for one in question.options], languages)
        case Matrix():
            payload |= {"QuestionType": "Matrix", "Selector": "Likert", "SubSelector": "SingleAnswer"}
            rows = [(one.name, one.text) for one in question.rows]
            payload |= _listed(payload, "Choices", rows, languages)
            payload["ChoiceDataExportTags"] = payload.pop("VariableNaming")
            payload |= _listed(payload, "Answers", [(one.name, one.text) for one in question.options], languages)
            if scores := [one.score for one in question.options if one.score is not None]:
                payload["RecodeValues"] = {str(number): f"{score:.15g}" for number, score in enumerate(scores, start=1)}
        case Slider():
            payload |= {"QuestionType": "Slider", "Selector": "HSLIDER", "Choices": {"1": {"Display": " "}}, "ChoiceOrder": ["1"]}
            steps = {"GridLines": question.positions - 1, "SnapToGrid": True, "NumDecimals": "0" if question.whole else "2"}
            payload["Configuration"] |= {"CSSliderMin": question.minimum, "CSSliderMax": question.maximum, "ShowValue": True, **steps}
            ends = [(key, end) for key, end in (("low", question.low), ("high", question.high)) if end]
            if len(ends) == 2:
                payload |= {key: value for key, value in _listed(payload, "Labels", ends, languages).items() if key == "Labels"}
        case Number():
            decimals = {"NumDecimals": "0"} if question.whole else {"NumDecimals": ""}
            limits = {"Min": f"{question.minimum:.15g}", "Max": f"{question.maximum:.15g}", **decimals}
            settings = {"ForceResponse": "OFF", "Type": "ContentType", "ContentType": "ValidNumber", "ValidNumber": limits}
            payload |= {"QuestionType": "TE", "Selector": "SL", "Validation": {"Settings": settings}}
        case ShortText():
            settings = {"ForceResponse": "OFF", "Type": "TotalChars", "TotalChars": str(question.longest)}
            payload |= {"QuestionType": "TE", "Selector": "SL", "Validation": {"Settings": settings}}
    if isinstance(question, SingleChoice | MultipleChoice | Matrix) and question.shuffle:
        payload["Randomization"] = {"Advanced": None, "Type": "All", "TotalRandSubset": ""}
    return payload


def _listed(payload: Payload, key: str, named: Sequence[tuple[str, Text]], languages: Sequence[str]) -> Payload:
    """The choices, rows or answers by number, their order and their names in the data; other languages go to the payload's."""
    numbered = [(str(number), name, text) for number, (name, text) in enumerate(named, start=1)]

    def words(code: str) -> dict[str, dict[str, str]]:
        return {number: {"Display": _safe(text.in_language(code))} for number, _name, text in numbered}

    for code in languages[1:]:
        payload["Language"][code.upper()][key] = words(code)
    order = {"Choices": "ChoiceOrder", "Answers": "AnswerOrder"}.get(key, "")
    naming = {"VariableNaming": {number: name for number, name, _text in numbered}}
    return {key: words(languages[0]), **({order: [number for number, _name, _text in numbered]} if order else {}), **naming}


def _logic(conditions: Sequence[Condition], numbers: Mapping[str, str], questions: Mapping[str, BackgroundQuestion]) -> Payload | None:
    """Groups that must all hold; in a group, any expression. None where a condition cannot be said, such as one of a row."""
    groups: list[list[Payload]] = []
    for condition in conditions:
        of = questions.get(condition.question)
        if isinstance(of, Choices):
            places = {option.name: str(number) for number, option in enumerate(of.options, start=1)}
            locators = [f"q://{numbers[of.name]}/SelectableChoice/{places[name]}" for name in condition.any_of]
            groups.append([_expression(numbers[of.name], locator, "Selected") for locator in locators])
        elif isinstance(of, Number | Slider):
            locator = f"q://{numbers[of.name]}/Choice{'Numeric' if isinstance(of, Slider) else 'Text'}EntryValue"
            locator += "/1" if isinstance(of, Slider) else ""
            groups += [[one] for one in _comparisons(condition, numbers[of.name], locator)]
        else:
            return None
    logic: Payload = {"Type": "BooleanExpression", "inPage": False}
    for place, group in enumerate(groups):
        joined = {str(number): one | ({"Conjuction": "Or"} if number else {}) for number, one in enumerate(group)}
        logic[str(place)] = {**joined, "Type": "AndIf" if place else "If"}
    return logic


def _comparisons(condition: Condition, number: str, locator: str) -> Iterator[Payload]:
    for operator, end in (("GreaterThanOrEqual", condition.at_least), ("LessThanOrEqual", condition.at_most)):
        if isinstance(end, int | float):
            yield _expression(number, locator, operator) | {"RightOperand": f"{end:.15g}"}


def _expression(number: str, locator: str, operator: str) -> Payload:
    question = {"LogicType": "Question", "QuestionID": number, "QuestionIDFromLocator": number, "QuestionIsInLoop": "no"}
    return {**question, "ChoiceLocator": locator, "LeftOperand": locator, "Operator": operator, "Type": "Expression"}


def _to_know(question: BackgroundQuestion) -> Iterator[str]:
    if isinstance(question, Group | Circle):
        yield _("Qualtrics has no such question: neither repeated groups nor friends whose names stay in the page.")
    if isinstance(question, Date):
        yield _("Qualtrics cannot ask for a month between two ends.")
    if isinstance(question, ShortText):
        yield _("Candor never releases these words. Say the same to people there.")
