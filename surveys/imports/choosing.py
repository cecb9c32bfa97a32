"""A person's choices about a proposal: a background question, a question with the die, or none; and the report that follows from them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from pydantic import TypeAdapter, ValidationError

from candor.errors import MethodError
from surveys.definition import StudyDefinition
from surveys.drafting.categories import proposed_faces, with_free_names
from surveys.imports.documents import Document, Proposed
from surveys.imports.reading import Proposal
from surveys.imports.trees import CHANGED, LOST, TAKEN
from surveys.questions.background import BackgroundQuestion, Circle, Group, Matrix, ShortText, require_fitting
from surveys.questions.conditions import LIKE_A_PIPE, PIPE
from surveys.questions.mistakes import mistake_in_words
from surveys.questions.sensitive import SensitiveQuestion
from surveys.reading.apart import in_words

BACKGROUND, DIE, NOT = "background", "die", "left_out"
KEPT_BY_THE_DIE = ("name", "text", "hint", "options", "codes", "order", "kind")
OUTCOMES = (TAKEN, CHANGED, LOST)
OWN_LABELS = (("yes", "no"), ("ja", "nein"))
"""Labels that the pages say in the words of their language."""
Item: TypeAlias = dict[str, object]
_BACKGROUND: TypeAdapter[BackgroundQuestion] = TypeAdapter(BackgroundQuestion)


@dataclass(frozen=True, slots=True)
class Line:
    """`count` attributes of the file with one outcome; notes are sentences in the language of the request."""

    place: str
    value: str
    outcome: str
    question: int
    count: int
    about: str
    notes: tuple[str, ...] = ()

    def with_note(self, outcome: str, note: str) -> "Line":
        return replace(self, outcome=max(self.outcome, outcome, key=OUTCOMES.index), notes=(*self.notes, note))


@dataclass(slots=True)
class Offer:
    """A question of the file. `taken_as`: what becomes of it; `can_use_die`: whether the die could protect its answer."""

    number: int
    name: str
    place: str
    text: str
    taken_as: str
    can_use_die: bool
    importable: bool
    lines: list[Line] = field(default_factory=list)
    kind: str = ""
    options: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        return _counts(self.lines)


@dataclass(slots=True)
class Chosen:
    """The questions to be added, and the outcome of every attribute: those of the `offers`, and of the `rest` of the file."""

    background: list[Document]
    sensitive: list[Item]
    offers: list[Offer]
    rest: list[Line]

    @property
    def lines(self) -> Iterator[Line]:
        for offer in self.offers:
            yield from offer.lines
        yield from self.rest

    @property
    def counts(self) -> dict[str, int]:
        """How many attributes were taken, changed and lost; together they are all of the file."""
        return _counts(self.lines)


def _counts(lines: Iterator[Line] | Sequence[Line]) -> dict[str, int]:
    found = dict.fromkeys(OUTCOMES, 0)
    for line in lines:
        found[line.outcome] += line.count
    return found


def chosen_of(proposal: Proposal, definition: StudyDefinition, *, with_die: Collection[int] = (), left_out: Collection[int] = ()) -> Chosen:
    """The questions of a proposal for this study. `with_die` and `left_out` are numbers of questions, from 0."""
    lines: dict[int, list[Line]] = {}
    for one in proposal["lines"]:
        notes = tuple(in_words(note) for note in one["notes"])
        line = Line(one["place"], one["value"], one["outcome"], one["question"], one["count"], one["about"], notes)
        lines.setdefault(one["question"], []).append(line)
    chosen = Chosen([], [], [], lines.get(-1, []))
    earlier: dict[str, BackgroundQuestion] = {question.name: question for question in definition.background}
    for number, question in enumerate(proposal["questions"]):
        offer = _offer(number, question, lines.get(number, []))
        chosen.offers.append(offer)
        document, die = question["document"], question["die"]
        if document is None:
            continue
        if number in left_out:
            _leave_out(offer, _("You left it out."))
        elif number in with_die and die is not None:
            _ask_with_die(offer, document, die, definition, chosen)
        else:
            _ask_openly(offer, document.copy(), earlier, chosen)
    _require_conditions_that_hold(chosen, definition)
    return chosen


def _offer(number: int, question: Proposed, lines: list[Line]) -> Offer:
    document = question["document"]
    options = document.get("options", ()) if document else ()
    return Offer(
        number=number,
        name=question["name"],
        place=question["place"],
        text=question["text"],
        taken_as=BACKGROUND if document else NOT,
        can_use_die=question["die"] is not None,
        importable=document is not None,
        lines=lines,
        kind=document["kind"] if document else "",
        options=tuple(_first(option["text"]) for option in options),
    )


def _first(text: str | dict[str, str]) -> str:
    return text if isinstance(text, str) else next(iter(text.values()))


def _leave_out(offer: Offer, reason: str) -> None:
    offer.taken_as = NOT
    offer.lines = [replace(line, outcome=LOST, notes=(reason,)) for line in offer.lines]


def _note(offer: Offer, about: str, outcome: str, note: str, *, instead: bool = False) -> None:
    """Note something at the lines about one part of the question."""
    offer.lines = [
        (replace(line, notes=()) if instead else line).with_note(outcome, note) if line.about == about else line for line in offer.lines
    ]


def _ask_openly(offer: Offer, document: Document, earlier: dict[str, BackgroundQuestion], chosen: Chosen) -> None:
    if any(one["question"].partition(".")[0] not in earlier for one in document.get("show_if", ())):
        del document["show_if"]
        _note(offer, "condition", LOST, _("It hung on a question that is not asked openly; now it is always shown."))
    for key in ("text", "hint"):
        if key in document and (words := _without_wrong_pipes(document[key], earlier)) != document[key]:
            document[key] = words
            _note(offer, key, CHANGED, _("Braces in its text became brackets: in braces, a text names an earlier answer."))
    try:
        earlier[document["name"]] = _BACKGROUND.validate_python(document)
    except ValidationError as error:
        _leave_out(offer, _("Candor cannot ask it: %(reason)s") % {"reason": mistake_in_words(error.errors()[0])})
        return
    chosen.background.append(document)


def _without_wrong_pipes(text: str | dict[str, str], earlier: Mapping[str, BackgroundQuestion]) -> str | dict[str, str]:
    """The text with brackets instead of braces where these would not name an earlier answer."""
    if isinstance(text, dict):
        return {code: str(_without_wrong_pipes(words, earlier)) for code, words in text.items()}
    if not LIKE_A_PIPE.search(text):
        return text
    named = [earlier.get(name) for name, _otherwise in PIPE.findall(text)]
    wrong = LIKE_A_PIPE.search(PIPE.sub("", text)) or any(one is None or not _may_be_named(one) for one in named)
    return text.replace("{", "(").replace("}", ")") if wrong else text


def _may_be_named(question: BackgroundQuestion) -> bool:
    return not isinstance(question, Matrix | Circle | Group) and (isinstance(question, ShortText) or question.role != "sensitive")


def _ask_with_die(offer: Offer, document: Document, die: dict[str, str], definition: StudyDefinition, chosen: Chosen) -> None:
    """The question with yes and no, or with its options as categories that share the faces of the study's die."""
    item: Item = {key: value for key, value in document.items() if key in ("name", "text", "hint")}
    categories: list[dict[str, object]] = []
    options = {option["name"]: option for option in document["options"]}
    if die["yes"]:
        labels = {key: options[die[key]]["text"] for key in ("yes", "no")}
        if tuple(_first(text).casefold() for text in labels.values()) not in OWN_LABELS:
            item |= labels
    else:
        item["categories"] = categories = with_free_names(document["options"])
        if document["kind"] == "ordinal_scale":
            item["ordered"] = True
    try:
        if item["name"] in {one.name for one in definition.questions} | {one["name"] for one in chosen.sensitive}:
            raise MethodError(_("a sensitive question of this name is in the study already"))
        if categories:
            item["faces"] = proposed_faces([str(one["name"]) for one in categories], definition.die)
        SensitiveQuestion.model_validate(item)
    except (MethodError, ValidationError) as error:
        reason = str(error) if isinstance(error, MethodError) else mistake_in_words(error.errors()[0])
        _leave_out(offer, _("It cannot be asked with the die: %(reason)s") % {"reason": reason})
        return
    offer.taken_as = DIE
    chosen.sensitive.append(item)
    nothing = _("A question with the die has nothing like it.")
    offer.lines = [
        line if line.outcome == LOST or line.about in KEPT_BY_THE_DIE else replace(line, outcome=LOST, notes=(nothing,))
        for line in offer.lines
    ]
    _note(offer, "kind", CHANGED, _("It is asked with the die."))
    if die["yes"]:
        _note(offer, "codes", LOST, _("Its answers are yes and no."), instead=True)


CONTRADICTION = gettext_noop("It is always shown: conditions in this file contradict each other, so that none was taken over.")


def _require_conditions_that_hold(chosen: Chosen, definition: StudyDefinition) -> None:
    """Takes all conditions out of the new questions where some can never be met, and notes that."""
    new = [_BACKGROUND.validate_python(one) for one in chosen.background]
    try:
        require_fitting([*definition.background, *new])
    except ValueError:
        for document in chosen.background:
            document.pop("show_if", None)
        for offer in chosen.offers:
            _note(offer, "condition", LOST, _(CONTRADICTION), instead=True)
