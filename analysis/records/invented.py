"""Records of invented people, as an example: nobody's answers are shown before they are protected."""

import random
from collections.abc import Mapping, Sequence

from analysis.answers.study_records import Chains, Lines, as_published, lines_of, records_of
from candor.errors import MethodError
from candor.records.schema import Record
from surveys.questions.background import MOST_FRIENDS, Answered, Circle, Date, Group, MultipleChoice, Number, ShortText, Slider, pairs_among

INVENTED, SHOWN = 120, 20
LEFT_OPEN = 0.1


def invented_people(questions: Sequence[Answered], rng: random.Random) -> list[dict[str, object]]:
    """Answers drawn at random, each option as likely as any other."""
    return [{question.name: _answer(question, rng) for question in questions if rng.random() >= LEFT_OPEN} for _person in range(INVENTED)]


def _answer(question: Answered, rng: random.Random) -> object:
    match question:
        case Group():
            return [{field.name: _answer(field, rng) for field in question.fields} for _entry in range(rng.randint(0, question.at_most))]
        case Circle():
            friends = rng.randint(0, MOST_FRIENDS)
            return {"friends": friends, "pairs": rng.randint(0, pairs_among(friends))}
        case Number():
            low, high = question.minimum, question.maximum
            return rng.randint(-int(-low // 1), int(high // 1)) if question.whole else rng.uniform(low, high)
        case Slider():
            return question.at(rng.randrange(question.positions))
        case Date():
            return rng.choice(question.answers)
        case MultipleChoice():
            return [option.name for option in question.options if rng.random() < 0.5]
        case ShortText():
            return None
        case _:
            return rng.choice(question.options).name


def example(questions: Sequence[Answered], hierarchies: Mapping[str, Chains], *, size: int) -> list[dict[str, Lines]]:
    """Some invented records before and after."""
    records = records_of(as_published(questions, {}), invented_people(questions, random.Random(1)))  # noqa: S311  # nobody's answers
    return before_and_after(records, hierarchies, size=size)


def before_and_after(records: Sequence[Record], hierarchies: Mapping[str, Chains], *, size: int) -> list[dict[str, Lines]]:
    """The first records that are not left out, as lines with their depth; none where classes of this size are not possible."""
    from candor.records.anonymising import anonymize

    marked: list[Record] = [{**record, "released": {"arm": str(place)}} for place, record in enumerate(records)]
    try:
        release = anonymize(marked, hierarchies, k=size)
    except MethodError:
        return []
    after = {int(record["released"]["arm"]): record for record in release.records}
    return [{"before": list(lines_of(records[place])), "after": list(lines_of(after[place]))} for place in sorted(after)[:SHOWN]]
