"""The attack of one who has two releases of the same records: what looks like k records in each may look like one in both."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from candor.records.risk import form_of
from candor.records.schema import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Intersection:
    """The knowledge that two releases give together.

    Attributes
    ----------
    recognised : int
        Records of the first that are recognised in the second, by values that are published as they are.
    singled_out : int
        Those of them that no other record of their class in the first can be taken for, when the second is known, too.
    """

    recognised: int
    singled_out: int

    def to_dict(self) -> dict[str, object]:
        """As plain values."""
        return asdict(self)


def intersection(first: Sequence[Record], second: Sequence[Record]) -> Intersection:
    """Intersect two releases of the same records, from the files alone.

    Parameters
    ----------
    first, second : sequence of dict

    Returns
    -------
    Intersection

    Notes
    -----
    A record is recognised by the sensitive values of its root and what was released with it, when no other record of either file has the
    same. Members of its class in the first release remain when they are in its class in the second, or are not recognised. Assumption: the
    attacker knows all labels of one student, so that both classes are known.

    References
    ----------
    Ganta, Kasiviswanathan & Smith (2008), Composition Attacks and Auxiliary Information in Data Privacy, KDD, §3.
    """
    names = set.intersection(*({name for record in records for name in record["sensitive"]} for records in (first, second)))
    before, after = [_signature(record, names) for record in first], [_signature(record, names) for record in second]
    unique = {one for one, times in Counter(before).items() if times == 1} & {one for one, times in Counter(after).items() if times == 1}
    unique.discard(None)
    class_of = {own: form_of(record) for own, record in zip(after, second, strict=True) if own in unique}
    classes: dict[str, Counter[str | None]] = defaultdict(Counter)
    for own, record in zip(before, first, strict=True):
        classes[form_of(record)][class_of.get(own)] += 1
    alone = sum(times == 1 and other is not None and not found[None] for found in classes.values() for other, times in found.items())
    return Intersection(recognised=len(unique), singled_out=alone)


def alone_in_both(first: Iterable[Iterable[int]], second: Iterable[Iterable[int]]) -> int:
    """How many records share their class in one release with none of their class in another: what a keeper, who has the rows, can say.

    Parameters
    ----------
    first, second : iterable of iterable of int
        Rows of the members of each class, for the same records in the same order.

    Returns
    -------
    int

    Examples
    --------
    >>> alone_in_both([[0, 1], [2, 3]], [[0, 2], [1, 3]]), alone_in_both([[0, 1], [2, 3]], [[2, 3], [1, 0]])
    (4, 0)
    """
    class_of = {row: at for at, members in enumerate(second) for row in members}
    return sum(times == 1 for members in first for times in Counter(class_of[row] for row in members if row in class_of).values())


def _signature(record: Record, names: Iterable[str]) -> str | None:
    """The marks by which a record is recognised; None when nothing is told."""
    told = {name: record["sensitive"].get(name) for name in names}
    if None in told.values() or not (told or record.get("released")):
        return None
    return json.dumps([told, record.get("released")], sort_keys=True, ensure_ascii=False)
