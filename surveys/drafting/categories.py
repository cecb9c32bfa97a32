"""Sensitive questions with two to six answers: their inputs on the question's page, and faces that are proposed for them."""

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

from django.utils.translation import gettext as _

from candor.designs.categories import MOST, TRUTH
from candor.designs.design import Design
from candor.designs.forced_responses import YES_NO as NO_AND_YES
from candor.errors import MethodError
from candor.written_numbers import number_in_digits
from surveys.drafting.edits import Document
from surveys.drafting.forms import DraftForm, Typed
from surveys.questions.background import BackgroundQuestion, OrdinalScale, SingleChoice, named_by
from surveys.questions.sensitive import Die, SensitiveQuestion

YES_NO, CATEGORIES = "yes_no", "categories"
FACES = "faces"
MOST_SIDES = 20
"""A larger die is searched as one of its divisors: all of its own faces would take too long."""
Faces = dict[str, dict[str, list[int]]]


def kind_of(item: Document) -> str:
    """The kind of answer of a sensitive question, which its document does not name."""
    return CATEGORIES if item.get("categories") or item.get("kind") == CATEGORIES else YES_NO


def with_free_names(options: Iterable[Document]) -> list[dict[str, object]]:
    """Options as categories, whose names may not say that the truth is asked for or that an answer is missing, nor be no and yes."""
    found, taken = [dict(one) for one in options], {TRUTH, "na", "nan"}
    if tuple(one["name"] for one in found) == NO_AND_YES:
        taken |= {*NO_AND_YES}
    return [one | {"name": f"{one['name']}_answer" if one["name"] in taken else one["name"]} for one in found]


def can_be_privatised(question: BackgroundQuestion) -> bool:
    """Whether a background question can be answered as the die says: one of a few options, and nothing that hangs on other answers."""
    hangs = any(named for reader in named_by([question]).values() for named in reader)
    return isinstance(question, SingleChoice | OrdinalScale) and len(question.options) <= MOST and question.expected is None and not hangs


def privatised(item: Document, die: Die) -> dict[str, object]:
    """A background question, for which that holds, as a question with categories.

    Raises
    ------
    MethodError
        When the die has no faces for it.
    """
    categories = with_free_names(item["options"])
    kept = {key: item[key] for key in ("name", "text", "hint") if key in item}
    ordered = {"ordered": True} if item["kind"] == "ordinal_scale" else {}
    faces = proposed_faces([str(one["name"]) for one in categories], die)
    return {**kept, **ordered, "purpose": "background", "categories": categories, "faces": faces}


def typed_faces(item: Document, subsamples: Iterable[str]) -> Typed:
    """The inputs of the faces: a line for each category, in their order."""
    names, faces = [one["name"] for one in item.get("categories", ())], item.get("faces", {})
    return {
        f"{FACES}.{subsample}": "\n".join(" ".join(map(str, faces.get(subsample, {}).get(name, ()))) for name in names).strip("\n")
        for subsample in subsamples
    }


def read_faces(form: DraftForm, names: Sequence[str], die: Die) -> Faces:
    """The typed faces of every category by subsample; proposed ones where nothing is typed."""
    if not any(form.line(f"{FACES}.{subsample}") for subsample in die.subsamples):
        try:
            return proposed_faces(names, die)
        except MethodError as error:
            form.error(f"{FACES}.{next(iter(die.subsamples))}", _no_proposal(error))
            return {}
    read = {subsample: _read_lines(form, f"{FACES}.{subsample}", names, sides=die.sides) for subsample in die.subsamples}
    shares = [{name: len(faces) for name, faces in rule.items()} for rule in read.values()]
    if all(read.values()) and all(one == shares[0] for one in shares[1:]):
        form.error(
            f"{FACES}.{next(reversed(read))}",
            _("The subsamples must differ in how often they say an answer; else nothing tells cheaters apart."),
        )
    return read


def _no_proposal(error: MethodError) -> str:
    reason = str(error)
    return _("No faces can be proposed: %(reason)s. Give fewer answers, choose another die, or write the faces.") % {"reason": reason}


def _read_lines(form: DraftForm, place: str, names: Sequence[str], *, sides: int) -> dict[str, list[int]]:
    typed = form.line(place).split("\n")
    lines = [line for line in typed if line.strip()]
    found: dict[str, list[int]] = {}
    if len(lines) != len(names):
        empty = next((number for number, line in enumerate(typed, start=1) if not line.strip()), None)
        said = (
            _("Line %(number)s has no face.") % {"number": empty}
            if empty and len(typed) == len(names)
            else _("Write %(count)s lines, one for each answer; here are %(found)s.") % {"count": len(names), "found": len(lines)}
        )
        form.error(place, f"{said} {_('An answer that the die never says would give away what is true.')}")
        return found
    for name, line in zip(names, lines, strict=False):
        written = [one for one in re.split(r"[\s,;]+", line) if one]
        if wrong := [one for one in written if not 1 <= (number_in_digits(one) or 0) <= sides]:
            form.error(
                place,
                _("Write faces from 1 to %(sides)s with a space between; “%(found)s” is none.") % {"sides": sides, "found": wrong[0][:20]},
            )
            return {}
        found[name] = [int(one) for one in written]
    faces = [face for said in found.values() for face in said]
    if twice := [face for face in faces if faces.count(face) > 1]:
        form.error(place, _("Face %(face)s stands there twice; each face says one thing.") % {"face": twice[0]})
    elif len(faces) == sides:
        form.error(place, _("Leave at least one face for the truth; else the answers tell nothing."))
    return found if place not in form.errors else {}


def proposed_faces(names: Sequence[str], die: Die) -> Faces:
    """The faces of this die that find the most and lose no more privacy than its yes/no questions.

    Raises
    ------
    MethodError
        When its faces are too few for so many answers, or it has three subsamples and only two answers.
    """
    from candor.planning.categories import CategoryScenario  # SciPy, which most web processes can do without
    from candor.planning.category_dice import best_category_dice

    subsamples, even = list(die.subsamples), (1 / len(names),) * len(names)
    share = Fraction(1, len(names) + 2)  # of a design that stands for all: only its arms and categories count
    favoured = {number: {name: share * (1 + (name == one)) for name in names} for number, one in (("1", names[-1]), ("2", names[0]))}
    design = Design.of(arms=("a", "b"), control="a", categories=names, subsamples=favoured)
    cap = max(forced.epsilon for forced in die.design().forced_responses().values())
    searched = max(sides for sides in range(1, MOST_SIDES + 1) if die.sides % sides == 0)
    scenario = CategoryScenario.of(design, prevalence={"a": even, "b": even})
    best = best_category_dice(design, scenario, epsilon_cap=cap, dice=(searched,))[0].die
    counts = {number: {name: len(list(best.faces[number][name])) * die.sides // searched for name in names} for number in best.faces}
    least, most = min(counts["1"].values()), max(counts["1"].values())
    more = [next(name for name in names if counts[number][name] == most) for number in counts]
    if len(subsamples) > len(more):
        more += [name for name in names if name not in more][:1]
    if len(subsamples) > len(more):
        raise MethodError(_("three subsamples need three answers or more, so that each favours another one"))
    return {subsample: _faces(names, least, most, favoured=one) for subsample, one in zip(subsamples, more, strict=True)}


def _faces(names: Sequence[str], least: int, most: int, *, favoured: str) -> dict[str, list[int]]:
    """The first faces for the first answer, the next ones for the next."""
    ends = list(accumulate((most if name == favoured else least for name in names), initial=1))
    return {name: list(range(start, end)) for name, (start, end) in zip(names, pairwise(ends), strict=True)}


def fitted(questions: Sequence[SensitiveQuestion], die: Die, *, before: Die) -> tuple[SensitiveQuestion, ...]:
    """The questions with faces for this die: proposed anew where it has other subsamples or sides than the one `before`.

    On more sides the same faces would ask for the truth more often, and protect less.

    Raises
    ------
    MethodError
        When it has no faces for one of them.
    """
    if set(die.subsamples) == set(before.subsamples) and die.sides == before.sides:
        return tuple(questions)
    return tuple(_proposed(question, die) if question.categories else question for question in questions)


def _proposed(question: SensitiveQuestion, die: Die) -> SensitiveQuestion:
    faces = proposed_faces(question.answers, die)
    return question.model_copy(update={"faces": {name: {says: tuple(on) for says, on in rule.items()} for name, rule in faces.items()}})
