"""Background questions, quiz items and sensitive questions: from the document to the inputs of their page, and back."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from candor.designs.categories import MOST as MOST_CATEGORIES
from candor.written_numbers import typed_number
from surveys.drafting import categories
from surveys.drafting.conditions import PLACE, read_conditions, typed_conditions
from surveys.drafting.edits import Document, Unchecked
from surveys.drafting.forms import DraftForm, Typed, typed_text, typed_value
from surveys.drafting.names import kept_names, name_from
from surveys.drafting.texts import Said, said
from surveys.questions.background import LARGEST_SCORE, MOST_MATRIX_ROWS, MOST_POSITIONS, MOST_YEARS
from surveys.questions.background import LONGEST_SHORT_TEXT as MOST_CHARACTERS
from surveys.questions.sensitive import Die

KINDS = ("single_choice", "multiple_choice", "ordinal_scale", "number", "slider", "date")
KINDS_OUTSIDE_GROUPS = (*KINDS, "matrix", "short_text", "circle", "group")
PRECISIONS = ("month", "year")
ROLES = ("quasi_identifier", "sensitive", "auxiliary")
MOST_OPTIONS, MOST_FIELDS, MOST_ENTRIES = 100, 10, 20
PLACES = {"options": "options", "rows": "matrix_rows", "categories": "categories"}
"""Lists of a question, and the inputs in which each element has a line."""
LARGEST = 1e15
LONGEST_SHORT_TEXT = 60
"""Characters of a short text where the author says nothing else, as in the definition."""
DEFAULTS: Document = {"step": 1, "precision": "month", "at_most": 8, "longest": LONGEST_SHORT_TEXT}
"""As in the definition, for inputs that are never empty."""
Item = Document


def typed_item(item: Item, languages: Collection[str], place: str = "") -> Typed:
    """The inputs of a question of any kind as it stands in the document."""
    start = f"{place}." if place else ""
    typed: Typed = {}
    for key in ("text", "hint", "unit", "low", "high", "yes", "no"):
        typed.update(typed_text(f"{start}{key}", item.get(key), languages))
    for key in ("kind", "name", "role", "minimum", "maximum", "step", "precision", "earliest", "latest", "at_most", "longest"):
        typed[f"{start}{key}"] = typed_value(item.get(key, DEFAULTS.get(key)))
    options = item.get("options") or item.get("categories") or ()
    typed[f"{start}scores"] = " ".join(typed_value(float(option["score"])) for option in options if "score" in option)
    typed[f"{start}ordered"] = typed_value(item.get("ordered"))
    typed[f"{start}background"] = typed_value(item.get("purpose") == "background")
    typed[f"{start}whole"] = typed_value(item.get("whole", True))
    typed[f"{start}shuffle"] = typed_value(item.get("shuffle", item.get("kind", "quiz") == "quiz"))
    expected = [option["text"] for option in options if option["name"] == item.get("expected", item.get("cheaters"))]
    typed[f"{start}expected"] = _first(expected[0], next(iter(languages))) if expected else ""
    if not place:
        typed[PLACE] = typed_conditions(item.get(PLACE, ()))
    for key, place in PLACES.items():
        typed.update(_typed_options(item, languages, f"{start}{place}", item.get(key, ())))
    for number, field in enumerate(item.get("fields", ())):
        typed.update(typed_item(field, languages, f"{start}fields.{number}"))
    return typed


def read_background(form: DraftForm, before: Item, *, taken: Collection[str], place: str = "") -> dict[str, object]:
    """A background question; `before` is its earlier state, `taken` are the names of the others."""
    start = f"{place}." if place else ""
    question = _read_question(form, before, taken=taken, start=start)
    if not place and (conditions := read_conditions(form)):
        question[PLACE] = conditions
    kind = form.choice(f"{start}kind", KINDS if place else KINDS_OUTSIDE_GROUPS, missing=_("Choose what kind of answer this is."))
    question["kind"] = kind
    if kind == "group":
        return question | _read_group(form, before)
    if kind == "short_text":
        longest = form.whole_number("longest", what=_("The length"), minimum=1, maximum=MOST_CHARACTERS)
        return question | ({} if longest in (None, LONGEST_SHORT_TEXT) else {"longest": longest})
    question["role"] = form.choice(f"{start}role", ROLES, missing=_("Choose what the answer means for privacy."))
    if kind in ("number", "slider"):
        return question | _read_number(form, start, slider=kind == "slider")
    if kind == "date":
        return question | _read_date(form, start)
    if kind and kind != "circle":
        question["options"], _right = _read_options(form, before, start=start)
    if kind in ("single_choice", "multiple_choice", "matrix") and form.checked(f"{start}shuffle"):
        question["shuffle"] = True
    if not place and kind in ("single_choice", "ordinal_scale") and (expected := form.line(f"{start}expected")):
        question["expected"] = _expected(form, f"{start}expected", expected, question["options"])
    if kind in ("ordinal_scale", "matrix"):
        question["options"] = _with_scores(form, question["options"], start)
    if kind == "matrix":
        question["rows"], _right = _read_options(form, before, key="rows", least=1, most=MOST_MATRIX_ROWS)
    return question


def read_quiz_item(form: DraftForm, before: Item, *, taken: Collection[str]) -> dict[str, object]:
    """A quiz item; the right option is the line that begins with a star."""
    item = _read_question(form, before, taken=taken)
    if conditions := read_conditions(form):
        item[PLACE] = conditions
    item["options"], right = _read_options(form, before, starred=True)
    item["answer"] = right
    return item if form.checked("shuffle") else item | {"shuffle": False}


def read_sensitive(form: DraftForm, before: Item, *, taken: Collection[str], die: Die) -> dict[str, object]:
    """A sensitive question: yes or no, whose labels are Yes and No unless others are written, or categories with their faces on the die."""
    question = _read_question(form, before, taken=taken)
    if (form.line("kind") or categories.kind_of(before)) != categories.CATEGORIES:
        return question | {key: words for key in ("yes", "no") if (words := form.text(key))}
    options, _right = _read_options(form, before, key="categories", most=MOST_CATEGORIES)
    question["categories"] = options = categories.with_free_names(_with_scores(form, options, ""))
    if form.checked("background"):
        question["purpose"] = "background"
    if form.checked("ordered") or any("score" in one for one in options):
        question["ordered"] = True
    if expected := form.line("expected"):
        question["cheaters"] = _expected(form, "expected", expected, options)
    return question | ({"faces": categories.read_faces(form, [str(one["name"]) for one in options], die)} if options else {})


def _read_question(form: DraftForm, before: Item, *, taken: Collection[str], start: str = "") -> dict[str, Unchecked]:
    text = form.text(f"{start}text", missing=_("Write the question."))
    hint = form.text(f"{start}hint")
    name = form.line(f"{start}name") or before.get("name") or name_from(_first(text), taken=taken, otherwise="question")
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,49}", name):
        form.error(f"{start}name", _("The name may have small letters, digits, - and _, and at most 50 of them."))
    elif name in taken:
        form.error(f"{start}name", _("Another question is called %(name)s already.") % {"name": name})
    return {"name": name, "text": text, **({"hint": hint} if hint else {})}


def _expected(form: DraftForm, place: str, written: str, options: Sequence[Item]) -> str:
    """The name of the option that an attention check expects, which was written as its text or as its name."""
    found = [one["name"] for one in options if written in (one["name"], _first(one["text"], form.languages[0]))]
    if not found and options:
        form.error(place, _("Write one of the options as it stands above; “%(found)s” is none.") % {"found": written[:60]})
    return str(found[0]) if found else ""


def _read_number(form: DraftForm, start: str, *, slider: bool) -> dict[str, object]:
    ends: dict[str, float | None] = {}
    for key, what in (("minimum", _("The smallest answer")), ("maximum", _("The largest answer"))):
        missing = _("%(what)s must be given.") % {"what": what}
        ends[key] = form.number(f"{start}{key}", what=what, minimum=-LARGEST, maximum=LARGEST, missing=missing)
    low, high = ends["minimum"], ends["maximum"]
    if low is not None and high is not None and not low < high:
        form.error(f"{start}maximum", _("The largest answer must be above the smallest, %(low)s.") % {"low": number_format(f"{low:.15g}")})
    limits: dict[str, object] = dict(ends)
    texts = {key: words for key in ("unit", "low", "high") if (slider or key == "unit") and (words := form.text(f"{start}{key}"))}
    if slider:
        return limits | _read_step(form, f"{start}step", low, high) | texts
    return limits | ({} if form.checked(f"{start}whole") else {"whole": False}) | texts


def _read_step(form: DraftForm, place: str, low: float | None, high: float | None) -> dict[str, object]:
    """The step of a slider, 1 where nothing is typed; steps must end at the largest answer."""
    step = form.number(place, what=_("The step"), minimum=1e-6, maximum=LARGEST) if form.line(place) else 1
    if step is None or low is None or high is None or not low < high:
        return {}
    steps = (high - low) / step
    if steps > MOST_POSITIONS:
        expected = {"most": number_format(MOST_POSITIONS, force_grouping=True), "found": number_format(f"{steps:.0f}", force_grouping=True)}
        form.error(place, _("A slider has at most %(most)s steps, not %(found)s. Use a larger step, or ask for a number.") % expected)
    elif abs(steps - round(steps)) > 1e-9 * steps:
        expected = {name: number_format(f"{value:.15g}") for name, value in (("step", step), ("low", low), ("high", high))}
        form.error(place, _("Steps of %(step)s from %(low)s do not end at the largest answer, %(high)s.") % expected)
    return {} if step == 1 else {"step": step}


def _read_date(form: DraftForm, start: str) -> dict[str, object]:
    """Months or years from the earliest to the latest."""
    precision = form.choice(f"{start}precision", PRECISIONS, missing=_("Choose month or year."))
    example = "2004-09" if precision == "month" else "2004"
    found: dict[str, object] = {} if precision == "month" else {"precision": precision}
    ends = []
    for key in ("earliest", "latest"):
        found[key] = end = form.line(f"{start}{key}")
        if not re.fullmatch(r"(1[89]|20|21)[0-9]{2}" + (r"-(0[1-9]|1[0-2])" if precision == "month" else ""), end):
            form.error(f"{start}{key}", _("Write it like %(example)s, not “%(found)s”.") % {"example": example, "found": end[:20]})
        else:
            ends.append(end)
    if len(ends) == 2 and not ends[0] < ends[1]:
        form.error(f"{start}latest", _("The latest answer must be after the earliest, %(earliest)s.") % {"earliest": ends[0]})
    elif len(ends) == 2 and int(ends[1][:4]) - int(ends[0][:4]) >= MOST_YEARS:
        form.error(f"{start}latest", _("These are more than %(most)s years.") % {"most": MOST_YEARS})
    return found


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
    most = form.whole_number("at_most", what=_("How often"), minimum=1, maximum=MOST_ENTRIES, missing=_("Write how often at most."))
    return {"fields": fields} | ({} if most == 8 else {"at_most": most})


def _typed_options(item: Item, languages: Collection[str], place: str, options: Collection[Item]) -> Iterator[tuple[str, str]]:
    """One line for each option or row; the right option of a quiz item begins with a star."""
    for code in languages:
        lines = []
        for option in options:
            text = option["text"] if isinstance(option["text"], str) else option["text"].get(code, "")
            lines.append(f"* {text}" if option["name"] == item.get("answer") else text)
        yield f"{place}.{code}", "\n".join(lines)


def _read_options(
    form: DraftForm, before: Item, *, start: str = "", key: str = "options", starred: bool = False, least: int = 2, most: int = MOST_OPTIONS
) -> tuple[list[dict[str, object]], str]:
    """The options, or the rows of a matrix, and the name of the one with a star."""
    place, first = f"{start}{PLACES[key]}", form.languages[0]
    lines = {code: [line.strip() for line in form.line(f"{place}.{code}").split("\n") if line.strip()] for code in form.languages}
    stars = [index for index, line in enumerate(lines[first]) if line.startswith("*")] if starred else []
    if starred:
        lines = {code: [line.removeprefix("*").strip() for line in of_one] for code, of_one in lines.items()}
    count = len(lines[first])
    if not least <= count <= most:
        form.error(f"{place}.{first}", _("Write from %(least)s to %(most)s, one on each line.") % {"least": least, "most": most})
    elif len(set(lines[first])) < count:
        form.error(f"{place}.{first}", _("Two lines say the same."))
    elif starred and len(stars) != 1:
        form.error(f"{place}.{first}", _("Put a star * before the right option, and before no other."))
    for code, of_one in lines.items():
        if len(of_one) not in (0, count):
            message = _("Here are %(here)s lines, and the first language has %(there)s. Write as many.")
            form.error(f"{place}.{code}", message % {"here": len(of_one), "there": count})
    if any(name.startswith(f"{place}.") for name in form.errors):
        return [], ""
    texts = [said({code: of_one[index] if of_one else "" for code, of_one in lines.items()}) for index in range(count)]
    names = kept_names(lines[first], [(option["name"], _first(option["text"], first)) for option in before.get(key, ())])
    return [{"name": name, "text": text} for name, text in zip(names, texts, strict=True)], names[stars[0]] if stars else ""


def _first(text: Said | None, code: str = "") -> str:
    if isinstance(text, dict):
        return text.get(code) or next(iter(text.values()))
    return text or ""
