"""Classes by exchange: every record stays in one, and both what they lose and values that are too frequent become fewer."""

from collections import Counter

import numpy as np
import pytest

from candor.records.anonymising import read_records
from candor.records.clustering import CLASH, _Block, _Exchange, cluster
from candor.records.embedding import BIT, KEPT, Embedding, embed
from tests.unit.candor.records.students import HIERARCHIES, students, vertex

TO_BINS = HIERARCHIES | {"gpa": {"interval": [0.5]}}
DEMANDED = ("grade", "gpa")


def embedded(number: int, seed: int) -> Embedding:
    return embed(read_records(students(number, seed), TO_BINS), DEMANDED)


@pytest.mark.parametrize(("size", "diversity"), [(3, 1), (3, 3), (6, 3), (7, 2)])
def test_every_record_is_in_one_class(size: int, diversity: int) -> None:
    for seed in range(3):
        found = cluster(embedded(60, seed), np.arange(60), size=size, diversity=diversity, may_suppress=2)
        assert sorted([*found.suppressed, *(row for one in found.members for row in one)]) == list(range(60))
        assert min(map(len, found.members)) >= size
        assert len(found.suppressed) <= 2


def cost(block: _Block, classes: list[list[int]], most: int) -> float:
    """The loss, and the price of every value that is too frequent at a place that all members have: counted one by one."""
    found = 0.0
    for one in classes:
        vectors = block.vectors[one]
        found += float((vectors - vectors.min(axis=0)).sum())
        for column in block.codes[one].T if most else ():
            if column.all():
                found += CLASH * len(one) * sum(max(0, count - most) for count in Counter(column.tolist()).values())
    return found


@pytest.mark.parametrize("most", [0, 1, 2])
def test_an_exchange_costs_less_and_changes_the_size_of_no_class(most: int) -> None:
    rng = np.random.default_rng(0)
    for seed in range(3):
        embedding = embedded(48, seed)
        block = _Block.of(embedding, np.arange(48))
        drawn = rng.permutation(48)[:45].reshape(9, 5).tolist()  # three records are in no class
        before = cost(block, drawn, most)
        changed, _loss = _Exchange(block, drawn, most=most).run(rng, times=3)
        assert cost(block, changed, most) < before
        assert [len(one) for one in changed] == [5] * 9
        assert sorted(row for one in changed for row in one) == sorted(row for one in drawn for row in one)


def test_values_that_are_too_frequent_change_places() -> None:
    """Records that are alike but for a grade: without ℓ nothing can gain; with it no class keeps a value twice."""
    records = [vertex({}, {}, [vertex({"course": "CS11"}, {"grade": grade})]) for grade in "AAABBBCCC"]
    block = _Block.of(embed(read_records(records, HIERARCHIES), ["grade"]), np.arange(9))
    alike = [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert _Exchange(block, alike).run(np.random.default_rng(0), times=3)[0] == alike
    mixed, _loss = _Exchange(block, alike, most=1).run(np.random.default_rng(0), times=3)
    assert [sorted(row // 3 for row in one) for one in mixed] == [[0, 1, 2]] * 3


def test_the_weight_of_a_label_is_its_ncp_and_its_bits() -> None:
    """Four leaves below a group of two: a leaf saves 1/3 and a bit, its group 2/3 and a bit, and the child itself is worth `KEPT`."""
    chains = {name: [name, f"{name[0]}*", "*"] for name in ("A1", "A2", "B1", "B2")}
    [row] = embed(read_records([vertex({}, {}, [vertex({"c": "A1"})])], {"c": chains})).vectors.toarray()
    assert sorted(row) == pytest.approx(sorted([1 / 3 + BIT, 2 / 3 + BIT, KEPT]), rel=1e-6)
