"""Attacks on several releases and on the algorithm: each succeeds where nothing protects from it, and fails where something does."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

import pytest

from candor.records import shuffling
from candor.records.anonymising import Release, anonymize, read_records
from candor.records.checking import violations
from candor.records.diversity import Repair
from candor.records.hierarchies import read_hierarchies
from candor.records.releases.intersection import alone_in_both, intersection
from candor.records.risk import form_of, linked, risks, rounded_up
from candor.records.tables.minimality import beliefs, rows_given_away
from tests.unit.candor.records.students import HIERARCHIES, students, vertex
from tests.unit.candor.records.test_risk_and_answers import candor

RECORDS = [record | {"sensitive": {"gpa": at / 25}} for at, record in enumerate(students(100))]


def released_twice(coarser: object) -> tuple[Release, Release, Release, list[list[int]]]:
    """A release, a second one of other classes, a second one of the same, and the other classes."""
    first = anonymize(RECORDS, HIERARCHIES, k=4)
    classes = [one.members for one in first.classes]
    turned = [list(rows) for rows in zip(*classes, strict=False)]
    turned[0] += [row for one in classes for row in one[len(turned) :]]
    other, same = (anonymize(read_records(RECORDS, coarser), k=4, classes=drawn) for drawn in (turned, classes))
    return first, other, same, turned


def test_other_classes_are_intersected_and_the_same_ones_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second release shows courses only; each record is recognised by its average.

    Its four classes look alike in one draw of fifteen, and then nobody is singled out: one of eight draws is looked at where they do not.
    """
    coarser = HIERARCHIES | {"gender": {"F": ["F", "*"], "M": ["M", "*"]}, "birth": {"interval": [8]}}
    drawn = (released_twice(coarser) for _ in range(8))
    first, other, same, turned = next(one for one in drawn if intersection(one[0].records, one[1].records).singled_out)
    classes = [one.members for one in first.classes]
    assert alone_in_both(classes, turned) > 80
    assert alone_in_both(classes, classes) == 0
    found = intersection(first.records, other.records)
    assert found.recognised == 100
    assert 20 < found.singled_out <= alone_in_both(classes, turned)
    assert intersection(first.records, same.records).singled_out == 0
    monkeypatch.chdir(tmp_path)
    for name, release in (("one", first), ("two", other)):
        Path(f"{name}.json").write_text(json.dumps(release.records))
    done = candor("risk", "one.json", "--also", "two.json", "--format", "json")
    assert json.loads(done.stdout)["intersection"] == found.to_dict()


def hits_of_an_insider(records: list[Any], published: list[Any]) -> float:
    """She knows somebody's labels and average, looks for a record that has both, and reads a second value of it: how often is it right?"""
    found, same_labels = [], defaultdict[str, list[Any]](list)
    for record in published:
        same_labels[form_of(record)].append(record["sensitive"])
    for record in published:
        own = records[int(record["released"]["arm"])]["sensitive"]
        alike = [one for one in same_labels[form_of(record)] if one["gpa"] == own["gpa"]]
        found.append(sum(one["room"] == own["room"] for one in alike) / len(alike))
    return sum(found) / len(found)


def test_an_insider_reads_the_rest_of_a_record_unless_every_value_was_shuffled_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control shuffles whole vertices: two values of a vertex stay together, and the attack succeeds as if nothing had been done."""
    records = [
        one | {"sensitive": {"gpa": at, "room": f"R{at}"}, "released": {"arm": str(at)}} for at, one in enumerate(students(120, seed=8))
    ]
    forest = read_records(records, HIERARCHIES)
    plain = anonymize(forest, k=12)
    classes = [one.members for one in plain.classes]
    shuffled = anonymize(forest, k=12, anatomy=True, classes=classes)
    assert hits_of_an_insider(records, plain.records) == 1
    # One in twelve by chance: 10 of 120, give or take 3. Forty and more come once in 10^13 times.
    assert hits_of_an_insider(records, shuffled.records) < 1 / 3
    # Other values tell as much by chance only, in most publications.
    assert {"gpa", "room"} <= set(risks(plain.records).insider)
    assert risks(shuffled.records).insider == {}

    def whole_vertices(repair: Repair) -> None:
        for group in repair.groups():
            for orbit in repair.orbits(group):
                mixed = iter(shuffling.shuffled([number for place in orbit.places for number in place.values]))
                for place in orbit.places:
                    place.values = [next(mixed) for _ in place.values]

    monkeypatch.setattr(Repair, "shuffle", whole_vertices)
    assert hits_of_an_insider(records, anonymize(forest, k=12, anatomy=True, classes=classes).records) == 1


def test_what_is_told_to_several_recognises_nobody() -> None:
    records = [vertex({}, {"gpa": 1.0}), vertex({}, {"gpa": 1.0}), vertex({}, {"gpa": None}), vertex({}, {"gpa": 2.0})]
    assert intersection(records, records).to_dict() == {"recognised": 1, "singled_out": 0}


def test_beliefs_are_those_of_all_assignments() -> None:
    for sizes, times, k, level in (([2, 4], 2, 2, 2), ([3, 3, 2], 3, 3, 2), ([4, 1], 3, 2, 2), ([5, 3], 2, 3, 3)):
        parts = [at for at, size in enumerate(sizes) for _ in range(size)]
        kept = []
        for having in itertools.combinations(range(len(parts)), times):
            counts = [sum(parts[one] == at for one in having) for at in range(len(sizes))]
            if any(size >= k and number * level > size for size, number in zip(sizes, counts, strict=True)):
                kept.append(counts)
        expected = [sum(counts[at] for counts in kept) / len(kept) / size for at, size in enumerate(sizes)]
        assert beliefs(sizes, times, k=k, level=level) == pytest.approx(expected)
    assert beliefs([1, 1], 1, k=2, level=2) == [0.0, 0.0]


@pytest.mark.parametrize(("sizes", "times", "level"), [([40, 900], 60, 2), ([1200, 900], 700, 3), ([1500, 700], 1100, 2)])
def test_beliefs_in_large_parts_are_those_of_whole_numbers(sizes: list[int], times: int, level: int) -> None:
    """Of 40 rows 21 have a value that 60 of 940 have in one assignment of 10^16; that it happened anyway is what the attacker knows."""
    first, second = sizes
    pairs = [(one, times - one) for one in range(times + 1) if one <= first and times - one <= second]
    ways = {(one, other): comb(first, one) * comb(second, other) for one, other in pairs if one * level > first or other * level > second}
    means = [Fraction(sum(pair[at] * number for pair, number in ways.items()), sum(ways.values())) for at in (0, 1)]
    assert beliefs(sizes, times, k=2, level=level) == pytest.approx([float(mean / size) for mean, size in zip(means, sizes, strict=True)])


def test_minimal_coarsening_gives_rows_away_and_coarsening_for_k_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wong et al.: two rows of q1 share a value; only that made them q1 or q2. With fewer rows than k it is k that did."""
    labels = {"q": {"q1": ["q1", "*"], "q2": ["q2", "*"]}}
    originals = [vertex({"q": "q1"}, {"ill": "yes"})] * 2 + [vertex({"q": "q2"}, {"ill": ill}) for ill in ("no", "n", "o", "not")]
    published = [one | {"quasi_identifiers": {"q": "*"}} for one in originals]
    trees = read_hierarchies(labels)
    assert rows_given_away(published, originals, trees, name="ill", k=2, level=2) == 2
    assert rows_given_away(published, originals, trees, name="ill", k=5, level=2) == 0
    assert rows_given_away(originals, originals, trees, name="ill", k=2, level=2) == 0
    monkeypatch.chdir(tmp_path)

    def table(name: str, rows: list[dict[str, Any]]) -> None:
        lines = [f"{row['quasi_identifiers']['q']},{row['sensitive']['ill']}" for row in rows]
        Path(name).write_text("\n".join(["q,ill", *lines]) + "\n")

    table("out.csv", published)
    table("table.csv", originals)
    Path("H.json").write_text(json.dumps(labels))
    Path("roles.json").write_text('{"q": "quasi_identifier", "ill": "sensitive"}')
    shared = ["--roles", "roles.json", "--original", "table.csv", "--hierarchies", "H.json"]
    done = candor("risk", "out.csv", *shared, "--k", "2", "--l", "ill=2", "--format", "json")
    assert json.loads(done.stdout)["minimality"] == {"ill": 2}
    done = candor("risk", "out.csv", *shared, "--k", "2", "--l", "ill=2")
    assert "given away by the algorithm\n  ill: 2 rows\n" in done.stdout
    assert "expected --original and --hierarchies" in candor("risk", "out.csv", "--roles", "roles.json", "--l", "ill=2").output


def test_a_wide_table_singles_out_those_whose_trees_look_alike() -> None:
    """Trees have no first course; a table has a column for it, and the order of courses tells two students apart."""
    courses = [["CS11", "CS12"], ["CS12", "CS11"]]
    trees = [vertex({"gender": "F"}, {}, [vertex({"course": course}) for course in taken]) for taken in courses]
    wide = [vertex({"gender": "F", **{f"course {at}": course for at, course in enumerate(taken, 1)}}) for taken in courses]
    assert (linked(trees)["labels of the root"], list(violations(trees, k=2))) == (0, [])
    assert linked(wide)["labels of the root"] == 2
    assert {one.rule for one in violations(wide, k=2)} == {"k"}


def test_no_risk_is_told_smaller_than_it_is(tmp_path: Path) -> None:
    """“At most 33 %” stood there for one in three, and “0.0 %” for one of 3,000."""
    path = tmp_path / "out.json"
    path.write_text(json.dumps([vertex({"class": f"{number // 3}"}, {"grade": f"{number % 3}"}) for number in range(9)]), encoding="utf-8")
    told = candor("risk", str(path)).stdout
    assert "prosecutor: at most 0.334, on average (marketer) 0.334" in told
    assert "grade: 33.4%, m = 1" in told
    assert [rounded_up(risk, digits=3) for risk in (0.0, 1 / 3000, 0.2, 1.0)] == [0.0, 0.001, 0.2, 1.0]
