"""A pasted list of questions: one on each line, with its options on lines below that are indented or begin with a dash."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from textwrap import dedent

from django.utils.translation import gettext as _

from surveys.drafting.edits import Unchecked
from surveys.drafting.names import name_from
from surveys.drafting.questions import MOST_OPTIONS
from surveys.drafting.texts import said

MOST_QUESTIONS = 100
LONGEST_LINE = 1000
_OPTION = re.compile(r"^(?:\s+[-–—•·]?\s*|[-–—•·]\s*)(?P<text>\S.*)$")
_NUMBER = re.compile(r"^\(?[0-9]{1,3}[.):]\s+")


@dataclass(slots=True)
class PastedQuestion:
    """A question as it was pasted. `right`: the places of the options that begin with a star."""

    line: int
    text: str
    options: list[str] = field(default_factory=list)
    right: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Pasted:
    """The questions of a pasted text, and its mistakes by line."""

    questions: list[PastedQuestion]
    problems: list[str]


def read_pasted(text: str, part: str) -> Pasted:
    """The questions of a pasted text, for one of the lists `background`, `quiz` and `questions`."""
    questions: list[PastedQuestion] = []
    problems: list[str] = []
    for number, line in enumerate(dedent(text.replace("\r\n", "\n")).split("\n"), start=1):
        if not line.strip():
            continue
        option = _OPTION.match(line)
        if len(line) > LONGEST_LINE:
            problems.append(_("Line %(line)s: expected at most %(most)s characters.") % {"line": number, "most": LONGEST_LINE})
        elif option and not questions:
            problems.append(_("Line %(line)s: expected a question first, found an option.") % {"line": number})
            break
        elif option:
            words = option["text"].strip()
            if words.startswith("*") and words[1:].strip():
                questions[-1].right.append(len(questions[-1].options))
                words = words[1:].strip()
            questions[-1].options.append(words)
        else:
            questions.append(PastedQuestion(line=number, text=_NUMBER.sub("", line.strip()) or line.strip()))
    if not questions and not problems:
        problems.append(_("Paste at least one question."))
    if len(questions) > MOST_QUESTIONS:
        problems.append(_("Expected at most %(most)s questions, found %(found)s.") % {"most": MOST_QUESTIONS, "found": len(questions)})
    return Pasted(questions, problems + [problem for one in questions if (problem := _problem_of(one, part))])


def _problem_of(question: PastedQuestion, part: str) -> str:
    """The mistake that keeps this question out of the list, if there is one."""
    known = {"line": question.line, "found": len(question.options)}
    if part == "questions":
        return (
            _("Line %(line)s: a sensitive question has no options here; it is answered with Yes or No.") % known if question.options else ""
        )
    if len(question.options) > MOST_OPTIONS:
        return _("Line %(line)s: expected at most %(most)s options, found %(found)s.") % {**known, "most": MOST_OPTIONS}
    if len(question.options) != len(set(question.options)):
        return _("Line %(line)s: two options of this question are the same.") % known
    if part == "quiz" and len(question.options) < 2:
        return _("Line %(line)s: expected two options or more below it, found %(found)s. Indent them, or begin them with a dash.") % known
    if part == "quiz" and len(question.right) != 1:
        return _("Line %(line)s: expected a star * before the right option, and before no other.") % known
    if part == "background" and len(question.options) == 1:
        return _("Line %(line)s: expected no option, or two or more, found %(found)s.") % known
    return ""


def items_of(
    questions: list[PastedQuestion], part: str, *, languages: Collection[str], taken: Collection[str]
) -> list[dict[str, Unchecked]]:
    """The questions as the document has them: texts in the first language, with gaps for the others."""

    def text(words: str) -> Unchecked:
        return said({code: words if number == 0 else "" for number, code in enumerate(languages)})

    items: list[dict[str, Unchecked]] = []
    for question in questions:
        name = name_from(question.text, taken={*taken, *(item["name"] for item in items)}, otherwise="question")
        item: dict[str, Unchecked] = {"name": name, "text": text(question.text)}
        options: list[dict[str, Unchecked]] = []
        for words in question.options:
            options.append({"name": name_from(words, taken={one["name"] for one in options}, otherwise="option"), "text": text(words)})
        if part == "quiz":
            item |= {"options": options, "answer": options[question.right[0]]["name"]}
        elif part == "background" and options:
            # As with REDCap: nobody is less protected because somebody forgot to say what an answer means for privacy.
            item |= {"kind": "single_choice", "role": "quasi_identifier", "options": options}
        elif part == "background":
            item |= {"kind": "short_text"}
        items.append(item)
    return items
