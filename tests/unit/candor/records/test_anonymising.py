"""The anonymiser and the checker never disagree; what is published is true; nothing tells order, class or alignment."""

from __future__ import annotations

import gc
import json
import random
from collections import Counter
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candor.records.anonymising import Release, anonymize, read_records, without_collection
from candor.records.auditing import Audit
from candor.records.checking import violations
from candor.records.loss import losses
from candor.records.schema import ParameterError
from tests.unit.candor.records.students import HIERARCHIES, random_schema, students, vertex

BINS = HIERARCHIES | {"gpa": {"interval": [0.5]}}


def plain_form(record: Any) -> str:
    """Another way to say what a record looks like, for the tests alone."""
    return json.dumps([record["quasi_identifiers"], sorted(plain_form(child) for child in record["children"])], sort_keys=True)


def plain_orbits(records: list[Any]) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = {}
    waiting = [((plain_form(record),), record) for record in records]
    while waiting:
        path, one = waiting.pop()
        for name, value in one["sensitive"].items():
            found.setdefault((path, name), []).append(value)
        waiting += [((*path, plain_form(child)), child) for child in one["children"]]
    return found


@settings(max_examples=settings.default.max_examples // 2)
@given(st.integers(0, 2**32))
def test_the_checker_and_the_anonymiser_never_disagree_and_nothing_is_invented(seed: int) -> None:
    rng = random.Random(seed)
    hierarchies, records, levels, k = random_schema(rng)
    try:
        release = anonymize(records, hierarchies, k=k, diversity=levels, class_size=k + rng.randint(0, 3))
    except ParameterError as error:
        if "the checker" in str(error):
            raise
        return
    assert list(violations(release.records, k=k, diversity=levels)) == []
    assert min(Counter(map(plain_form, release.records)).values()) >= k
    assert list(Audit(records, hierarchies).violations(release.records)) == []
    assert len(release.records) + release.suppressed == len(records)
    for (_, name), values in plain_orbits(release.records).items():
        if levels[name] > 1 and any(value is not None for value in values):
            assert None not in values
            assert max(Counter(values).values()) * levels[name] <= len(values)


def test_what_an_application_has_frozen_is_counted_only_after_much_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python counts it object by object, which took longer than anonymising forty students."""
    counted = []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: counted.append("asked") or 1)
    gc.collect()
    with without_collection():
        pass
    assert not counted
    with without_collection():
        many = [[] for _ in range(gc.get_threshold()[0] + 1_000)]
    assert (counted, len(many) > 0, gc.isenabled()) == (["asked"], True, True)


@pytest.fixture(scope="module")
def diverse() -> Release:
    return anonymize(students(60), BINS, k=4, diversity={"grade": 2, "gpa": 2}, class_size=6)


def test_sensitive_numbers_are_published_as_their_bins(diverse: Release) -> None:
    assert {record["sensitive"]["gpa"] for record in diverse.records} <= {f"[{at / 2:g},{at / 2 + 0.5:g})" for at in range(9)} | {None}


def test_the_loss_is_that_of_the_published_labels(diverse: Release) -> None:
    courses = HIERARCHIES["course"]
    below = Counter(label for chain in courses.values() for label in chain)
    published = [child["quasi_identifiers"]["course"] for record in diverse.records for child in record["children"]]
    all_of_them = sum(len(record["children"]) for record in students(60))
    expected = (sum((below[label] - 1) / (len(courses) - 1) for label in published) + all_of_them - len(published)) / all_of_them
    assert losses(diverse).labels["course"] == pytest.approx(expected)


def test_what_hangs_on_the_root_is_published_and_never_seen() -> None:
    records = students(40)
    answers = [{"arm": "face" if at % 2 else "slides", "subsample": "1", "answers": {"attention": at % 3 % 2}} for at in range(40)]
    told = [record | {"released": answer} for record, answer in zip(records, answers, strict=True)]
    forest, turned = read_records(told, HIERARCHIES), read_records([one | {"released": answers[-1]} for one in records], HIERARCHIES)
    assert [root._replace(released=None) for root in forest.roots] == [root._replace(released=None) for root in turned.roots]
    release = anonymize(forest, k=5)
    assert Counter(json.dumps(one["released"]) for one in release.records) == Counter(map(json.dumps, answers))
    again = anonymize(turned, k=5, classes=[one.members for one in release.classes])
    assert Counter(map(plain_form, again.records)) == Counter(map(plain_form, release.records))


def test_no_order_is_kept_and_keeping_it_is_found() -> None:
    records = students(120)
    release = anonymize(records, HIERARCHIES, k=3)
    assert list(Audit(records, HIERARCHIES).violations(release.records)) == []
    assert [one.rule for one in Audit(records, HIERARCHIES).violations(records)] == ["order"]
    assert [one.rule for one in Audit(records, HIERARCHIES).violations(records[2:60] + records[62:])] == ["order"]


def test_anatomy_shuffles_values_within_orbits_only() -> None:
    records = students(60)
    forest = read_records(records, HIERARCHIES)
    plain = anonymize(forest, k=6)
    shuffled = anonymize(forest, k=6, anatomy=True, classes=[one.members for one in plain.classes])
    before, after = plain_orbits(plain.records), plain_orbits(shuffled.records)
    assert {key: Counter(values) for key, values in before.items()} == {key: Counter(values) for key, values in after.items()}
    assert list(Audit(records, HIERARCHIES, anatomy=True).violations(shuffled.records)) == []
    assert list(violations(shuffled.records, k=6)) == []
    assert {one["anatomy"] for one in shuffled.records} == {True}
    assert not any("anatomy" in one for one in plain.records)


def test_marked_values_that_did_not_move_are_found_with_the_original() -> None:
    """A shuffled file passes with a probability of 1 − 10⁻⁶ at least; one attribute that moved does not hide that two others stayed."""
    records = students(150)
    forest = read_records(records, HIERARCHIES)
    plain = anonymize(forest, k=3)
    shuffled = anonymize(forest, k=3, anatomy=True, classes=[one.members for one in plain.classes])
    audit = Audit(records, HIERARCHIES, anatomy=True)
    assert list(audit.violations(shuffled.records)) == []
    marked = json.loads(json.dumps([{**one, "anatomy": True} for one in plain.records]))
    assert [one.rule for one in audit.violations(marked)] == ["anatomy"]
    random.Random(1).shuffle(averages := [one["sensitive"]["gpa"] for one in marked])
    for one, average in zip(marked, averages, strict=True):
        one["sensitive"]["gpa"] = average
    assert "grade" in next(audit.violations(marked)).found


def test_confirmed_attributes_do_not_move_with_shuffled_values() -> None:
    """A room that moved with a grade would still tell whose grade it is."""
    records = [{**one, "auxiliary": {"room": str(at)}, "released": {"arm": str(at)}} for at, one in enumerate(students(60))]
    release = anonymize(records, HIERARCHIES, k=6, anatomy=True, auxiliary=["room"])
    assert all(one["auxiliary"]["room"] == one["released"]["arm"] for one in release.records)
    kept = sum(one["sensitive"] == records[int(one["released"]["arm"])]["sensitive"] for one in release.records)
    assert kept < 40  # about one in six stays by chance


def test_a_confirmed_attribute_is_published_as_it_is_and_others_are_generalised() -> None:
    records = [{**record, "auxiliary": {"room": f"R{at % 7}", "campus": "north"}} for at, record in enumerate(students(30))]
    release = anonymize(records, HIERARCHIES, k=5, auxiliary=["room"])
    assert {one["auxiliary"]["room"] for one in release.records} == {f"R{at}" for at in range(7)}
    assert {one["quasi_identifiers"]["campus"] for one in release.records} == {"north"}
    assert next(violations(release.records, k=5)).rule == "k"
    assert list(violations(release.records, k=5, auxiliary=["room"])) == []


def test_records_of_a_rare_kind_are_suppressed_within_the_limit() -> None:
    records = [*students(60), vertex({"gender": "F"}, {"gpa": 2.0})]
    release = anonymize(records, HIERARCHIES, k=5)
    assert (len(release.records), release.suppressed) == (60, 1)
    with pytest.raises(ParameterError, match="would be suppressed"):
        anonymize(records, HIERARCHIES, k=5, suppress=0.0)


def test_the_originals_are_not_changed() -> None:
    records = students(20)
    before = deepcopy(records)
    anonymize(records, HIERARCHIES, k=4)
    assert records == before
