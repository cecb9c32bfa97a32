"""Background questions, quiz items and sensitive questions: from the document to the inputs of their page, and back."""

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from django.utils.translation import gettext as _

from candor.written_numbers import typed_number
from surveys.drafting.edits import Document, Unchecked
from surveys.drafting.forms import DraftForm, Typed, typed_text, typed_value
from surveys.drafting.names import kept_names, name_from
from surveys.drafting.texts import Said, said
from surveys.questions.background import LARGEST_SCORE
from surveys.questions.background import LONGEST_SHORT_TEXT as MOST_CHARACTERS

KINDS = ("single_choice", "multiple_choice", "ordinal_scale", "number")
KINDS_OUTSIDE_GROUPS = (*KINDS, "short_text", "circle", "group")
ROLES = ("quasi_identifier", "sensitive", "auxiliary")
MOST_OPTIONS, MOST_FIELDS, MOST_ROWS = 100, 10, 20
LARGEST = 1e15
LONGEST_SHORT_TEXT = 60
"""Characters of a short text where the author says nothing else, as in the definition."""
Item = Document


def typed_item(item: Item, languages: Collection[str], place: str = "") -> Typed:
    """The inputs of a question of any kind as it stands in the document."""
    start = f"{place}." if place else ""
    typed: Typed = {}
    for key in ("text", "hint", "unit", "yes", "no"):
        typed.update(typed_text(f"{start}{key}", item.get(key), languages))
    for key in ("kind", "name", "role", "minimum", "maximum", "at_most", "longest"):
        typed[f"{start}{key}"] = typed_value(item.get(key))
    typed[f"{start}scores"] = " ".join(f"{option['score']:.15g}" for option in item.get("options", ()) if "score" in option)
    typed[f"{start}whole"] = typed_value(item.get("whole", True))
    typed[f"{start}shuffle"] = typed_value(item.get("shuffle", True))
    typed.update(_typed_options(item, languages, start))
    for number, field in enumerate(item.get("fields", ())):
        typed.update(typed_item(field, languages, f"{start}fields.{number}"))
    return typed


def read_background(form: DraftForm, before: Item, *, taken: Collection[str], place: str = "") -> dict[str, object]:
    """A background question; `before` is its earlier state, `taken` are the names of the others."""
    start = f"{place}." if place else ""
    question = _read_question(form, before, taken=taken, start=start)
    kind = form.choice(f"{start}kind", KINDS if place else KINDS_OUTSIDE_GROUPS, missing=_("Choose what kind of answer this is."))
    question["kind"] = kind
    if kind == "group":
        return question | _read_group(form, before)
    if kind == "short_text":
        longest = form.whole_number("longest", what=_("The length"), minimum=1, maximum=MOST_CHARACTERS)
        return question | ({} if longest in (None, LONGEST_SHORT_TEXT) else {"longest": longest})
    question["role"] = form.choice(f"{start}role", ROLES, missing=_("Choose what the answer means for privacy."))
    if kind == "number":
        return question | _read_number(form, start)
    if kind and kind != "circle":
        question["options"], _right = _read_options(form, before, start=start)
    if kind == "ordinal_scale":
        question["options"] = _with_scores(form, question["options"], start)
    return question


def read_quiz_item(form: DraftForm, before: Item, *, taken: Collection[str]) -> dict[str, object]:
    """A quiz item; the right option is the line that begins with a star."""
    item = _read_question(form, before, taken=taken)
    item["options"], right = _read_options(form, before, starred=True)
    item["answer"] = right
    return item if form.checked("shuffle") else item | {"shuffle": False}


def read_sensitive(form: DraftForm, before: Item, *, taken: Collection[str]) -> dict[str, object]:
    """A yes-or-no question; its labels are Yes and No unless others are written."""
    question = _read_question(form, before, taken=taken)
    return question | {key: words for key in ("yes", "no") if (words := form.text(key))}


def _read_question(form: DraftForm, before: Item, *, taken: Collection[str], start: str = "") -> dict[str, Unchecked]:
    text = form.text(f"{start}text", missing=_("Write the question."))
    hint = form.text(f"{start}hint")
    name = form.line(f"{start}name") or before.get("name") or name_from(_first(text), taken=taken, otherwise="question")
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,49}", name):
        form.error(f"{start}name", _("The name may have small letters, digits, - and _, and at most 50 of them."))
    elif name in taken:
        form.error(f"{start}name", _("Another question is called %(name)s already.") % {"name": name})
    return {"name": name, "text": text, **({"hint": hint} if hint else {})}


def _read_number(form: DraftForm, start: str) -> dict[str, object]:
    limits = {}
    for key, what in (("minimum", _("The smallest answer")), ("maximum", _("The largest answer"))):
        missing = _("%(what)s must be given.") % {"what": what}
        limits[key] = form.number(f"{start}{key}", what=what, minimum=-LARGEST, maximum=LARGEST, missing=missing)
    low, high = limits["minimum"], limits["maximum"]
    if low is not None and high is not None and not low < high:
        form.error(f"{start}maximum", _("The largest answer must be above the smallest, %(low)s.") % {"low": f"{low:.15g}"})
    unit = form.text(f"{start}unit")
    return limits | ({} if form.checked(f"{start}whole") else {"whole": False}) | ({"unit": unit} if unit else {})


def _with_scores(form: DraftForm, options: list[dict[str, object]], start: str) -> list[dict[str, object]]:
    """The options with the typed scores, which may be left out: 1, 2, 3 … then."""
    place = f"{start}scores"
    written = re.split(r"[\s;]+", form.line(place)) if form.line(place) else []
    scores = [typed_number(one) for one in written]
    unreadable = [one[:40] for one, score in zip(written, scores, strict=True) if score is None or abs(score) > LARGEST_SCORE]
    numbers = [float(score) for score in scores if score is not None]
    if unreadable:
        form.error(place, _("Write numbers with a space between them; “%(found)s” is none.") % {"found": unreadable[0]})
    elif written and options and len(numbers) != len(options):
        expected = {"options": len(options), "scores": len(numbers)}
        form.error(place, _("There are %(options)s options and %(scores)s scores. Write one score for each option, or none.") % expected)
    elif not (all(a < b for a, b in pairwise(numbers)) or all(a > b for a, b in pairwise(numbers))):
        form.error(place, _("The scores must rise, or fall, from each option to the next."))
    if not numbers or place in form.errors:
        return options
    return [{**option, "score": score} for option, score in zip(options, numbers, strict=False)]


def _read_group(form: DraftForm, before: Item) -> dict[str, object]:
    """The fields of a group; empty rows are ignored."""
    old = {field["name"]: field for field in before.get("fields", ())}
    fields: list[dict[str, Unchecked]] = []
    for place in form.rows("fields"):
        if form.checked(f"{place}.remove") or not any(form.line(f"{place}.text.{code}") for code in form.languages):
            continue
        was = old.get(form.line(f"{place}.name"), {})
        fields.append(read_background(form, was, taken={field["name"] for field in fields}, place=place))
    if not fields:
        form.error(f"fields.0.text.{form.languages[0]}", _("Write at least one question of the group."))
    if len(fields) > MOST_FIELDS:
        form.error("fields.0.text", _("A group has at most %(most)s questions.") % {"most": MOST_FIELDS})
    most = form.whole_number("at_most", what=_("How often"), minimum=1, maximum=MOST_ROWS, missing=_("Write how often at most."))
    return {"fields": fields} | ({} if most == 8 else {"at_most": most})


def _typed_options(item: Item, languages: Collection[str], start: str) -> Iterator[tuple[str, str]]:
    """One line for each option; the right one of a quiz item begins with a star."""
    for code in languages:
        lines = []
        for option in item.get("options", ()):
            text = option["text"] if isinstance(option["text"], str) else option["text"].get(code, "")
            lines.append(f"* {text}" if option["name"] == item.get("answer") else text)
        yield f"{start}options.{code}", "\n".join(lines)


def _read_options(form: DraftForm, before: Item, *, start: str = "", starred: bool = False) -> tuple[list[dict[str, object]], str]:
    """The options, and the name of the one with a star."""
    place, first = f"{start}options", form.languages[0]
    lines = {code: [line.strip() for line in form.line(f"{place}.{code}").split("\n") if line.strip()] for code in form.languages}
    stars = [index for index, line in enumerate(lines[first]) if line.startswith("*")] if starred else []
    if starred:
        lines = {code: [line.removeprefix("*").strip() for line in of_one] for code, of_one in lines.items()}
    count = len(lines[first])
    if not 2 <= count <= MOST_OPTIONS:
        form.error(f"{place}.{first}", _("Write from 2 to %(most)s options, one on each line.") % {"most": MOST_OPTIONS})
    elif len(set(lines[first])) < count:
        form.error(f"{place}.{first}", _("Two options say the same."))
    elif starred and len(stars) != 1:
        form.error(f"{place}.{first}", _("Put a star * before the right option, and before no other."))
    for code, of_one in lines.items():
        if len(of_one) not in (0, count):
            message = _("Here are %(here)s options, and %(there)s in the first language.")
            form.error(f"{place}.{code}", message % {"here": len(of_one), "there": count})
    if any(name.startswith(f"{place}.") for name in form.errors):
        return [], ""
    texts = [said({code: of_one[index] if of_one else "" for code, of_one in lines.items()}) for index in range(count)]
    names = kept_names(lines[first], [(option["name"], _first(option["text"], first)) for option in before.get("options", ())])
    return [{"name": name, "text": text} for name, text in zip(names, texts, strict=True)], names[stars[0]] if stars else ""


def _first(text: Said | None, code: str = "") -> str:
    if isinstance(text, dict):
        return text.get(code) or next(iter(text.values()))
    return text or ""
