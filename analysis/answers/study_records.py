"""A study's background answers as student records, with suggested hierarchies. Both follow from the protocol and the answers alone.

The leaves of a hierarchy come from the protocol, never from the answers: a published list of the values that occur would tell them.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from candor.records.schema import Record
from surveys.questions.background import (
    MOST_FRIENDS,
    Answered,
    Circle,
    Date,
    Group,
    MultipleChoice,
    Number,
    Numeric,
    OrdinalScale,
    Role,
    ShortText,
    Simple,
    SingleChoice,
    Slider,
    pairs_among,
)
from surveys.questions.conditions import spelled_out

Chains = dict[str, list[str]]
Lines = list[tuple[int, str]]
"""A record for people: the depth and the text of each vertex."""
NOT_ANSWERED = "not answered"
ROOT = "*"
MOST_LEAVES = 128
"""A number with more whole values than this is known by the finest of its intervals."""
BINS = 10
"""Intervals in which a sensitive number is published, where it has more values: 3.98 beside 3.97 is no diversity."""
ENTRY, OPTION = "entry", ".option"


def attribute_of(question: str, field: str = "") -> str:
    """The name of an attribute in records; names of questions have no full stop."""
    return f"{question}.{field}" if field else question


def roles_of(questions: Sequence[Answered]) -> dict[str, Role]:
    """The role of every attribute, as the protocol has it."""
    found: dict[str, Role] = {}
    for question in questions:
        if isinstance(question, Group):
            found |= {attribute_of(question.name, field.name): field.role for field in question.fields}
        elif isinstance(question, Circle):
            found |= {attribute_of(question.name, part): question.role for part in ("friends", "pairs")}
        elif not isinstance(question, ShortText):
            found[question.name] = question.role
    return found


def words_of(questions: Sequence[Answered], language: str) -> dict[str, str]:
    """The text of the question of every attribute; of a field after that of its group."""
    found: dict[str, str] = {}
    earlier = {question.name: question.text.in_language(language) for question in questions}
    for question in questions:
        text = spelled_out(earlier[question.name], earlier)
        if isinstance(question, Group):
            found |= {attribute_of(question.name, field.name): f"{text} {field.text.in_language(language)}" for field in question.fields}
        elif isinstance(question, Circle):
            found |= {attribute_of(question.name, part): f"{text} ({part})" for part in ("friends", "pairs")}
        elif not isinstance(question, ShortText):
            found[question.name] = text
    return found


def named(questions: Sequence[Answered], role: Role, *, language: str = "en") -> dict[str, str]:
    """The texts of the questions and fields of a role, by their names. Both numbers of a circle are one."""
    found: dict[str, str] = {}
    earlier = {question.name: question.text.in_language(language) for question in questions}
    for question in questions:
        if isinstance(question, Group):
            words = words_of([question], language)
            found |= {name: words[name] for name, own in roles_of([question]).items() if own == role}
        elif not isinstance(question, ShortText) and question.role == role:
            found[question.name] = spelled_out(earlier[question.name], earlier)
    return found


def values_of(questions: Sequence[Answered]) -> dict[str, list[str]]:
    """All values in which each sensitive attribute can be published, lowest first where they have an order."""
    parts: list[tuple[str, Simple | Circle]] = []
    for question in questions:
        if isinstance(question, Group):
            parts += [(attribute_of(question.name, field.name), field) for field in question.fields]
        elif not isinstance(question, ShortText):
            parts.append((question.name, question))
    found: dict[str, list[str]] = {}
    for name, part in parts:
        if part.role != "sensitive":
            continue
        match part:
            case Circle():
                found |= {attribute_of(name, own): [str(one) for one in range(most + 1)] for own, most in _parts_of(part)}
            case Number() | Slider():
                found[name] = [label for label, _low in _ends_of(part)]
            case Date():
                found[name] = part.years
            case _:
                found[name] = [option.name for option in part.options]
    return found


def as_published(questions: Sequence[Answered], protection: Mapping[str, Any]) -> list[Answered]:
    """The questions in the roles in which they are published: quasi-identifiers are sensitive ones that shall be treated so
    (`as_labels`), and auxiliary ones that no officer confirmed (`auxiliary`).
    """
    labels, confirmed = protection.get("as_labels", ()), protection.get("auxiliary", ())

    def turned(name: str, question: Any) -> Any:
        is_label = name in labels if question.role == "sensitive" else name not in confirmed
        return question.model_copy(update={"role": "quasi_identifier"}) if is_label else question

    found: list[Answered] = []
    for question in questions:
        if isinstance(question, Group):
            fields = tuple(turned(attribute_of(question.name, field.name), field) for field in question.fields)
            found.append(question.model_copy(update={"fields": fields}))
        else:
            found.append(question if isinstance(question, ShortText) else turned(question.name, question))
    return found


def auxiliary_of(questions: Sequence[Answered]) -> list[str]:
    """The attributes that are published as they are, where `questions` have the roles of a release."""
    return [name for name, role in roles_of(questions).items() if role == "auxiliary"]


def records_of(questions: Sequence[Answered], answers: Sequence[Mapping[str, object]]) -> list[Record]:
    """One tree for each person, in the order of `answers`.

    The root has single choices, scales and numbers. Its children are the entries of groups, and one for each chosen option of a multiple
    choice, so that only the structure tells how many there are. A question left open is `not answered`; an empty group is a group left out.
    Auxiliary attributes stand apart: those that an officer confirmed are published as they are. See `as_published`.
    """
    return [_record(questions, given) for given in answers]


def _record(questions: Sequence[Answered], given: Mapping[str, Any]) -> Record:
    record = _vertex()
    for question in questions:
        answer = given.get(question.name)
        match question:
            case Group():
                for entry in answer or ():
                    child = _vertex()
                    child["quasi_identifiers"][question.name] = ENTRY
                    for field in question.fields:
                        _put(child, attribute_of(question.name, field.name), field, entry.get(field.name))
                    record["children"].append(child)
            case Circle():
                for part, most in _parts_of(question):
                    value = None if answer is None else answer[part]
                    _tell(record, attribute_of(question.name, part), question.role, _whole(value, 0, most))
            case ShortText():
                continue
            case _:
                _put(record, question.name, question, answer)
    return record


def _put(vertex: Record, name: str, question: Simple, answer: object) -> None:
    if not isinstance(question, MultipleChoice):
        _tell(vertex, name, question.role, _leaf(question, answer))
        return
    for chosen in answer if isinstance(answer, list) else ():
        child = _vertex()
        _tell(child, name, question.role, chosen)
        if question.role != "quasi_identifier":  # a child needs a label, or it would be one with the children of other questions
            child["quasi_identifiers"][f"{name}{OPTION}"] = ENTRY
        vertex["children"].append(child)


def _vertex() -> Record:
    return {"quasi_identifiers": {}, "sensitive": {}, "children": []}


def _tell(vertex: Record, name: str, role: Role, value: str) -> None:
    if role == "auxiliary":
        vertex.setdefault("auxiliary", {})[name] = value
    elif role == "sensitive":
        vertex["sensitive"][name] = value
    else:
        vertex["quasi_identifiers"][name] = value


def _leaf(question: Simple, answer: Any) -> str:
    if answer is None:
        return NOT_ANSWERED
    if isinstance(question, Date):
        known = question.within(str(answer))
        return known[:4] if question.role == "sensitive" else known
    if not isinstance(question, Numeric):
        return str(answer)
    value = min(max(float(answer), question.minimum), question.maximum)
    if question.role == "auxiliary":
        return f"{value:.12g}"
    ends = _ends_of(question)
    return next(label for label, low in reversed(ends) if value >= low or low == ends[0][1])


def _whole(value: int | None, low: int, high: int) -> str:
    return NOT_ANSWERED if value is None else str(min(max(value, low), high))


def _parts_of(question: Circle) -> tuple[tuple[str, int], tuple[str, int]]:
    return ("friends", MOST_FRIENDS), ("pairs", pairs_among(MOST_FRIENDS))


def _ends_of(question: Numeric) -> list[tuple[str, float]]:
    """Each leaf of a number with its lower end: whole values where there are few, else intervals of one width, with round ends."""
    low, high = question.minimum, question.maximum
    most = BINS if question.role == "sensitive" else MOST_LEAVES
    if isinstance(question, Slider):
        width, last_place = -(-question.positions // most), question.positions - 1
        spans = [(question.at(place), question.at(min(place + width - 1, last_place))) for place in range(0, question.positions, width)]
        return [(_interval(start, end), start) for start, end in spans]
    if question.whole:
        first, last = -(-low // 1), high // 1
        values = int(last - first) + 1
        width = -(-values // most)
        starts = [int(first) + width * place for place in range(-(-values // width))]
        return [(_interval(start, min(start + width - 1, int(last))), float(start)) for start in starts]
    bins = BINS if question.role == "sensitive" else MOST_LEAVES // 4
    ends = [low + (high - low) * place / bins for place in range(bins + 1)]
    return [(f"[{start:.6g},{end:.6g}{']' if end == high else ')'}", start) for start, end in pairwise(ends)]


def _interval(low: float, high: float) -> str:
    return f"{low:.12g}" if low == high else f"[{low:.12g},{high:.12g}]"


def suggested_hierarchies(questions: Sequence[Answered]) -> dict[str, Chains]:
    """For every quasi-identifier the chain of labels of each possible value: halves of what has an order, else one level to `*`."""
    found: dict[str, Chains] = {}
    for name, question in _quasi_identifiers(questions):
        match question:
            case None:
                found[name] = {ENTRY: [ENTRY, ROOT]}
            case Circle():
                most = dict(_parts_of(question))[name.rpartition(".")[2]]
                found[name] = halving([str(value) for value in range(most + 1)])
            case Number() | Slider():
                found[name] = halving([label for label, _low in _ends_of(question)])
            case Date():
                found[name] = _with_open({known: [*dict.fromkeys((known, known[:4])), ROOT] for known in question.answers})
            case OrdinalScale():
                found[name] = halving([option.name for option in question.options])
            case MultipleChoice():
                found[name] = {option.name: [option.name, ROOT] for option in question.options}
            case SingleChoice():
                found[name] = _with_open({option.name: [option.name, ROOT] for option in question.options})
    return found


def _quasi_identifiers(questions: Sequence[Answered]) -> Iterator[tuple[str, Simple | Circle | None]]:
    """Each attribute that has labels; None: a label that only says of which question a vertex is."""
    for question in questions:
        parts: list[tuple[str, Simple | Circle]] = []
        match question:
            case Group():
                yield question.name, None
                parts = [(attribute_of(question.name, field.name), field) for field in question.fields]
            case Circle():
                parts = [(attribute_of(question.name, part), question) for part, _most in _parts_of(question)]
            case ShortText():
                continue
            case _:
                parts = [(question.name, question)]
        for name, part in parts:
            if part.role != "sensitive":
                yield name, part
            if part.role != "quasi_identifier" and isinstance(part, MultipleChoice):
                yield f"{name}{OPTION}", None


def halving(leaves: Sequence[str]) -> Chains:
    """Pairs, pairs of pairs and so on, as long as a label stands for fewer than all leaves; not answered stands directly below `*`."""
    chains: Chains = {leaf: [leaf] for leaf in leaves}
    width = 2
    while width < len(leaves):
        for start in range(0, len(leaves), width):
            span = leaves[start : start + width]
            label = _span(span[0], span[-1])
            for leaf in span:
                if chains[leaf][-1] != label:
                    chains[leaf].append(label)
        width *= 2
    return _with_open({leaf: [*chain, ROOT] for leaf, chain in chains.items()})


def _span(first: str, last: str) -> str:
    if first == last:
        return first
    low, high = _low_end(first), _high_end(last)
    return f"{first} … {last}" if low is None or high is None else f"[{low},{high}"


def _low_end(label: str) -> str | None:
    text = label.partition(",")[0].removeprefix("[")
    return text if _is_number(text) else None


def _high_end(label: str) -> str | None:
    text = label.rpartition(",")[2]
    if text[-1:] in ")]":
        return text if _is_number(text[:-1]) else None
    return f"{text}]" if _is_number(text) else None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _with_open(chains: Chains) -> Chains:
    return {**chains, NOT_ANSWERED: [NOT_ANSWERED, ROOT]}


def lines_of(vertex: Record, depth: int = 0) -> Iterator[tuple[int, str]]:
    """A record for people: a line for each vertex, siblings in the order of their labels."""
    told = [f"{name}: {value}" for name, value in vertex["quasi_identifiers"].items() if value != ENTRY]
    told += [f"{name}: {value}" for name, value in vertex.get("auxiliary", {}).items()]
    told += [f"{name}: {'–' if value is None else value}" for name, value in vertex["sensitive"].items()]
    yield depth, ", ".join(told) or "*"
    below = [list(lines_of(child, depth + 1)) for child in vertex["children"]]
    for lines in sorted(below):
        yield from lines
