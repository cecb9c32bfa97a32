"""Tables keep what was demanded after their classes were improved and cut, and lose less for it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest

from candor.records.hierarchies import read_hierarchies
from candor.records.tables import improving, recoding
from candor.records.tables.anonymising import PublishedTable, Table, anonymize_table
from candor.records.tables.classes import common_nodes
from candor.records.tables.closeness import equal_distance, largest_close_part

TOWNS = {f"{land}{at}": [f"{land}{at}", land, "*"] for land in "NSW" for at in range(5)}
LABELS: dict[str, Any] = {"age": {"interval": [5, 10, 20, 40]}, "town": TOWNS, "gender": {"F": ["F", "*"], "M": ["M", "*"]}}
ROLES = {"age": "quasi_identifier", "town": "quasi_identifier", "gender": "quasi_identifier", "job": "sensitive"}


@pytest.fixture(scope="module")
def table() -> Table:
    rng = np.random.default_rng(3)
    ages, towns = np.clip(rng.gamma(9, 4, 600).astype(int) + 15, 15, 90), np.minimum(rng.geometric(0.25, 600) - 1, 14)
    jobs = np.minimum(rng.geometric(0.3, 600), 6)
    names = list(TOWNS)
    rows = [[str(age), names[town], "FM"[int(rng.integers(2))], f"job {job}"] for age, town, job in zip(ages, towns, jobs, strict=True)]
    return Table(columns=list(ROLES), rows=rows, delimiter=",")


def classes_of(found: PublishedTable) -> list[Counter[str]]:
    classes: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for *labels, job in found.table.rows:
        classes[tuple(labels)][job] += 1
    return list(classes.values())


@pytest.mark.parametrize(
    ("demands", "holds"),
    [
        ({"k": 5}, lambda one, _: one.total() >= 5),
        ({"k": 4, "diversity": {"job": 3}}, lambda one, _: len(one) >= 3),
        ({"k": 6, "diversity": {"job": 2}, "by": "frequency"}, lambda one, _: 2 * max(one.values()) <= one.total()),
        ({"k": 5, "t": 0.25}, lambda one, of: sum(abs(one[job] / one.total() - of[job] / of.total()) for job in of) / 2 <= 0.25 + 1e-9),
    ],
)
def test_demands_hold_and_improving_loses_less(table: Table, demands: dict[str, Any], holds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = anonymize_table(table, ROLES, LABELS, **demands)
    of = Counter(row[3] for row in found.table.rows)
    assert all(one.total() >= demands["k"] and holds(one, of) for one in classes_of(found))
    assert found.suppressed == 600 - len(found.table.rows) <= 12
    kept = Counter(tuple(row[3:]) for row in table.rows) - Counter(tuple(row[3:]) for row in found.table.rows)
    assert kept.total() == found.suppressed
    monkeypatch.setattr(recoding, "improve", lambda nodes, *_, **__: nodes)
    if "t" not in demands:
        assert found.loss < 0.97 * anonymize_table(table, ROLES, LABELS, **demands).loss
    else:
        monkeypatch.setattr(recoding, "WORTH_CUTTING", 10**6)
        assert found.loss < 0.97 * anonymize_table(table, ROLES, LABELS, **demands).loss


def test_labels_cover_their_values(table: Table) -> None:
    """The job names the row here, so that each published row can be compared with its own."""
    rows = [[*row[:3], f"{at}"] for at, row in enumerate(table.rows)]
    found = anonymize_table(Table(columns=table.columns, rows=rows, delimiter=","), ROLES, LABELS, k=5)
    trees = read_hierarchies(LABELS)
    for row in rows:
        trees["age"].leaf(row[0])
    trees["age"].settle()
    for *labels, at in found.table.rows:
        for name, label, value in zip(table.columns, labels, rows[int(at)], strict=False):
            tree = trees[name]
            assert label in [str(tree.labels[node]) for node in tree.chain(tree.leaf(value))]


def test_common_nodes_are_those_of_the_hierarchy() -> None:
    trees = read_hierarchies(LABELS)
    for age in (15, 17, 31, 90):
        trees["age"].leaf(age)
    trees["age"].settle()
    for tree in trees.values():
        found, every = common_nodes(tree), range(len(tree.labels))
        assert all(found[one, other] == tree.common((one, other)) for one in every for other in every)


def test_the_largest_close_part_is_close_and_nothing_larger_is() -> None:
    rng = np.random.default_rng(4)
    of = np.array([0.5, 0.3, 0.2])
    for _ in range(200):
        counts = rng.integers(0, 12, (1, 3)).astype(float)
        if not counts.sum():
            continue
        kept = largest_close_part(counts, np.array([1.0]), of=of, t=0.15)[0]
        assert (kept <= counts).all()
        assert not kept.any() or equal_distance(kept[None], of)[0] <= 0.15
        parts = np.array([part for part in np.ndindex(*(counts[0].astype(int) + 1)) if sum(part)], dtype=float)
        best = parts.sum(axis=1)[equal_distance(parts, of) <= 0.15].max(initial=0)
        assert best - 3 <= kept.sum() <= best or not kept.any()


@pytest.mark.parametrize("seed", range(12))
def test_the_search_keeps_all_demands_on_uneven_labels_and_never_loses_more(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    labels: dict[str, Any] = {}
    columns = []
    for name in ("first", "second"):
        values = [f"{name}{at}" for at in range(int(rng.integers(3, 12)))]
        labels[name] = {value: [value, *([f"{name}/{at // 3}"] if rng.random() < 0.8 else []), "*"] for at, value in enumerate(values)}
        columns.append(rng.choice(values, 300, p=rng.dirichlet(np.ones(len(values)))).tolist())
    columns.append(rng.choice(list("ABCDE"), 300).tolist())
    table = Table(columns=["first", "second", "job"], rows=[list(row) for row in zip(*columns, strict=True)], delimiter=",")
    roles = {"first": "quasi_identifier", "second": "quasi_identifier", "job": "sensitive"}
    demands: dict[str, Any] = {"k": int(rng.integers(2, 10)), "diversity": {"job": int(rng.integers(1, 4))}, "suppress": 0.05}
    found = anonymize_table(table, roles, labels, **demands)  # the checker has seen it
    assert found.suppressed <= 15
    monkeypatch.setattr(recoding, "improve", lambda nodes, *_, **__: nodes)
    assert found.loss <= anonymize_table(table, roles, labels, **demands).loss + 1e-9


def test_labels_that_nobody_has_yet_are_opened(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    found = anonymize_table(table, ROLES, LABELS, k=5)
    monkeypatch.setattr(improving.Opener, "run", lambda self: 0)
    assert found.loss < anonymize_table(table, ROLES, LABELS, k=5).loss
