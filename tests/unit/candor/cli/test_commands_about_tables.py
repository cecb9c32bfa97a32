"""``candor anonymize`` and ``check`` of a table: three distances for t, entropy, and anatomy in two files."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tests.unit.candor.cli.running import candor, refused

ROLES = {"student": "identifier", "age": "quasi_identifier", "town": "quasi_identifier", "grade": "sensitive"}
LABELS = {
    "age": {"interval": [5, 10]},
    "town": {town: [town, "west" if town < "D" else "east", "*"] for town in "ABCDEF"},
    "grade": {str(grade): [str(grade), "poor" if grade < 3 else "good", "*"] for grade in range(1, 7)},
}
TABLE = ("students.csv", "--roles", "roles.json")


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = random.Random(1)
    rows = [f"{one},{rng.randint(20, 40)},{rng.choice('ABCDEF')},{rng.randint(1, 6)}" for one in range(240)]
    Path("students.csv").write_text("\n".join(["student,age,town,grade", *rows, ""]))
    Path("roles.json").write_text(json.dumps(ROLES))
    Path("labels.json").write_text(json.dumps(LABELS))


def rows_of(path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(Path(path).read_text().splitlines()))


def farthest_in_order(path: str) -> float:
    """The largest ordered distance, by hand: Σ |cumulated differences| / 5."""
    classes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for row in rows_of(path):
        classes[row["age"], row["town"]][row["grade"]] += 1
    of = sum(classes.values(), Counter())
    found = []
    for one in classes.values():
        ahead = [sum(one[str(g)] / one.total() - of[str(g)] / of.total() for g in range(1, end + 1)) for end in range(1, 7)]
        found.append(sum(map(abs, ahead)) / 5)
    return max(found)


@pytest.mark.parametrize("distance", ["ordered", "hierarchical"])
def test_t_by_order_and_by_hierarchy_loses_less_than_by_equal_distance(distance: str) -> None:
    demands = (*TABLE, "--hierarchies", "labels.json", "--k", "5", "--t", "0.15", "--format", "json")
    losses = {}
    for one in ("equal", distance):
        result = candor("anonymize", *demands, "--distance", one, "-o", f"{one}.csv")
        assert result.exit_code == 0, result.output
        losses[one] = json.loads(result.stdout)["loss"]
    assert losses[distance] < losses["equal"]
    if distance == "ordered":
        assert farthest_in_order("ordered.csv") <= 0.15 + 1e-9
    published = (f"{distance}.csv", "--roles", "roles.json", "--hierarchies", "labels.json", "--k", "5", "--distance", distance)
    assert candor("check", *published, "--t", "0.15").exit_code == 0
    broken = candor("check", *published, "--t", "0.01")
    assert broken.exit_code == 1
    assert f"by the {distance} distance; expected at most 0.01" in broken.output


def test_entropy_demands_more_than_different_values() -> None:
    demands = (*TABLE, "--hierarchies", "labels.json", "--k", "5", "--l", "grade=4", "--format", "json")
    losses = [json.loads(candor("anonymize", *demands, "--by", by, "-o", f"{by}.csv").stdout)["loss"] for by in ("distinct", "entropy")]
    assert losses[0] < losses[1]
    assert candor("check", "entropy.csv", "--roles", "roles.json", "--k", "5", "--l", "grade=4", "--by", "entropy").exit_code == 0


def test_anatomy_writes_labels_and_values_apart() -> None:
    result = candor("anonymize", *TABLE, "--k", "3", "--l", "grade=4", "--anatomy", "-o", "out.csv")
    assert result.exit_code == 0, result.output
    labels, values = rows_of("out.csv"), rows_of("out.values.csv")
    assert set(labels[0]) == {"age", "town", "group"}
    assert set(values[0]) == {"group", "grade"}
    original = rows_of("students.csv")
    assert Counter((row["age"], row["town"]) for row in labels) == Counter((row["age"], row["town"]) for row in original)
    assert Counter(row["grade"] for row in values) == Counter(row["grade"] for row in original)
    groups: dict[str, list[str]] = defaultdict(list)
    for row in values:
        groups[row["group"]].append(row["grade"])
    assert all(len(set(own)) == len(own) >= 4 for own in groups.values())
    assert Counter(row["group"] for row in labels) == Counter(row["group"] for row in values)
    assert [(row["age"], row["town"]) for row in labels] != [(row["age"], row["town"]) for row in original]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--k", "5", "--l", "grade=4", "--anatomy"), "expected ℓ of at least k = 5"),
        (("--k", "3", "--anatomy"), "expected COLUMN=ℓ"),
        (("--k", "3", "--l", "grade=²"), "expected ATTRIBUTE=NUMBER"),
        (("--k", "3", "--l", "grade=" + "1" * 5000), "expected ATTRIBUTE=NUMBER"),
        (("--k", "3", "--l", "grade=4", "--anatomy", "--t", "0.2"), "--t: a table with --anatomy"),
        (("--k", "3", "--l", "grade=7", "--anatomy"), "expected at most 5"),
        (("--k", "5", "--t", "0.2", "--distance", "near", "--hierarchies", "labels.json"), "or hierarchical, found 'near'"),
    ],
)
def test_what_does_not_fit_together_is_refused(arguments: tuple[str, ...], expected: str) -> None:
    assert expected in refused("anonymize", *TABLE, *arguments, "-o", "out.csv")


def test_a_distance_that_the_values_do_not_allow_is_refused() -> None:
    Path("labels.json").write_text(json.dumps(LABELS | {"grade": {**LABELS["grade"], "1": ["1", "*"]}}))
    demands = (*TABLE, "--hierarchies", "labels.json", "--k", "5", "--t", "0.2")
    assert "expected leaves of one depth" in refused("anonymize", *demands, "--distance", "hierarchical", "-o", "out.csv")
    Path("labels.json").write_text(json.dumps({name: own for name, own in LABELS.items() if name != "grade"}))
    assert "expected its hierarchy" in refused("anonymize", *demands, "--distance", "hierarchical", "-o", "out.csv")
    Path("students.csv").write_text(Path("students.csv").read_text().replace(",6\n", ",excellent\n"))
    assert "expected numbers, or a hierarchy" in refused("anonymize", *demands, "--distance", "ordered", "-o", "out.csv")


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_lines_may_end_as_on_any_computer(end: str) -> None:
    text = Path("students.csv").read_text()
    Path("students.csv").write_bytes(text.replace("\n", end).replace(",", ";").encode())
    assert candor("anonymize", *TABLE, "--hierarchies", "labels.json", "--k", "5", "-o", "out.csv").exit_code == 0
    assert candor("check", "out.csv", "--roles", "roles.json", "--k", "5", "--original", "students.csv").exit_code == 0
    assert len(rows_of("out.csv")) > 200


@pytest.mark.usefixtures("limit_of_a_cell")
def test_what_is_no_table_is_refused_with_its_name() -> None:
    Path("town.csv").write_bytes("Zürich;*\n".encode("latin-1"))
    assert "town.csv: hierarchy 'town': expected a text file in UTF-8" in refused(
        "anonymize", *TABLE, "--hierarchies", "town.csv", "--k", "5", "-o", "out.csv"
    )
    Path("town.csv").write_text(f"A;{'a' * 200_000};*\n")
    assert "town.csv: hierarchy 'town': not a CSV file: field larger" in refused(
        "anonymize", *TABLE, "--hierarchies", "town.csv", "--k", "5", "-o", "out.csv"
    )
    Path("none.json").write_text("[]")
    assert refused("anonymize", *TABLE, "--hierarchies", "none.json", "--k", "5", "-o", "out.csv").startswith(
        "Error: none.json: expected hierarchies as"
    )
    Path("students.csv").write_text(f"student,age,town,grade\n1,20,A,{'1' * 200_000}\n")
    assert "students.csv: not a CSV file: field larger" in refused(
        "anonymize", *TABLE, "--hierarchies", "labels.json", "--k", "5", "-o", "out.csv"
    )


def test_a_hierarchy_may_be_set_apart_by_tabs() -> None:
    for name, chains in LABELS.items():
        if name != "age":
            Path("labels").mkdir(exist_ok=True)
            Path(f"labels/{name}.csv").write_text("".join("\t".join(chain) + "\n" for chain in chains.values()))
    Path("labels/age.csv").write_text("".join(f"{age}\t{'below' if age < 30 else 'above'} 30, or so\t*\n" for age in range(20, 41)))
    assert candor("anonymize", *TABLE, "--hierarchies", "labels", "--k", "5", "-o", "out.csv").exit_code == 0
    assert {row["town"] for row in rows_of("out.csv")} <= {*"ABCDEF", "west", "east", "*"}


AVERAGES = {**ROLES, "grade": "auxiliary", "average": "sensitive"}
BINS = {"average": {"interval": [0.5, 1]}}


def averages(delimiter: str = ",", *, among: tuple[float, ...] = (), first: str = "") -> None:
    """Another column: averages of two places, or one of these marks."""
    rng, lines = random.Random(2), Path("students.csv").read_text().splitlines()
    told = [f"{rng.choice(among) if among else rng.uniform(1, 5):.2f}" for _ in lines[1:]]
    told[0] = first or told[0]
    rows = [f"{line},{value}" for line, value in zip(lines, ["average", *told], strict=True)]
    if delimiter == ";":
        rows = [row.replace(",", ";").replace(".", ",") for row in rows]
    Path("students.csv").write_text("\n".join([*rows, ""]))
    Path("roles.json").write_text(json.dumps(AVERAGES))


@pytest.mark.parametrize(("write", "times"), [("{:.2f}", 1), ("{:.2e}", 1), ("+{:.3f}", 1), ("0{:.2f}", 1), ("{:.0f}", 10_000)])
def test_averages_and_salaries_are_numbers_however_they_are_written(write: str, times: int) -> None:
    averages()
    rows = [
        f"{row['student']},{row['age']},{row['town']},{row['grade']},{write.format(times * float(row['average']))}"
        for row in rows_of("students.csv")
    ]
    Path("students.csv").write_text("\n".join([",".join(AVERAGES), *rows, ""]))
    demands = (*TABLE, "--hierarchies", "labels.json", "--k", "4", "--l", "average=3", "--publish", "grade", "-o", "out.csv")
    assert "beside its neighbours is no diversity" in refused("anonymize", *demands)


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_averages_are_no_diversity_until_they_have_intervals(delimiter: str) -> None:
    averages(delimiter)
    demands = (*TABLE, "--hierarchies", "labels.json", "--k", "4", "--l", "average=3", "--publish", "grade")
    for more in ((), ("--by", "entropy"), ("--by", "frequency")):
        said = refused("anonymize", *demands, *more, "-o", "out.csv")
        assert "beside its neighbours is no diversity; expected intervals as its hierarchy" in said
    anatomy = (*TABLE, "--anatomy", "--k", "3", "--l", "average=3", "-o", "out.csv")
    assert "is no diversity" in refused("anonymize", *anatomy)
    assert not Path("out.csv").exists()
    Path("labels.json").write_text(json.dumps({**LABELS, **BINS}))
    result = candor("anonymize", *demands, "-o", "out.csv")
    assert result.exit_code == 0, result.output
    published = list(csv.DictReader(Path("out.csv").read_text().splitlines(), delimiter=delimiter))
    classes = defaultdict(set)
    for row in published:
        classes[row["age"], row["town"]].add(row["average"])
    assert {value for one in classes.values() for value in one} == {f"[{low / 2:g},{low / 2 + 0.5:g})" for low in range(2, 10)}
    assert min(map(len, classes.values())) >= 3
    assert candor("check", "out.csv", "--roles", "roles.json", "--k", "4", "--l", "average=3", "--publish", "grade").exit_code == 0


def test_the_checker_refuses_a_table_with_averages() -> None:
    averages()
    Path("roles.json").write_text(json.dumps({name: role for name, role in AVERAGES.items() if name != "student"}))
    rows = rows_of("students.csv")
    text = "\n".join(["age,town,grade,average", *(f"*,*,{row['grade']},{row['average']}" for row in rows), ""])
    Path("out.csv").write_text(text)
    demands = ("check", "out.csv", "--roles", "roles.json", "--k", "4", "--publish", "grade")
    assert candor(*demands).exit_code == 0
    broken = candor(*demands, "--l", "average=3")
    assert (broken.exit_code, "beside its neighbours is no diversity" in broken.output) == (1, True)


def test_a_scale_of_marks_with_decimals_is_diversity() -> None:
    averages(among=(1.0, 1.3, 1.7, 2.0, 2.3, 2.7, 3.0, 3.3, 3.7, 4.0, 5.0))
    demands = (*TABLE, "--hierarchies", "labels.json", "--k", "4", "--l", "average=3", "--publish", "grade", "-o", "out.csv")
    assert candor("anonymize", *demands).exit_code == 0
    assert {row["average"] for row in rows_of("out.csv")} >= {"1.30", "1.70"}


def test_the_order_of_bins_is_that_of_their_numbers() -> None:
    averages()
    Path("labels.json").write_text(json.dumps({**LABELS, **BINS}))
    demands = (*TABLE, "--hierarchies", "labels.json", "--k", "5", "--t", "0.2", "--publish", "grade", "--distance")
    assert candor("anonymize", *demands, "ordered", "-o", "out.csv").exit_code == 0
    published = (
        "out.csv",
        "--roles",
        "roles.json",
        "--hierarchies",
        "labels.json",
        "--k",
        "5",
        "--distance",
        "ordered",
        "--publish",
        "grade",
    )
    assert candor("check", *published, "--t", "0.2").exit_code == 0
    assert candor("check", *published, "--t", "0.001").exit_code == 1
    assert "expected its hierarchy of labels" in refused("anonymize", *demands, "hierarchical", "-o", "out.csv")


def test_a_word_among_the_numbers_of_a_bin_is_named_with_its_row() -> None:
    averages(first="ill")
    Path("labels.json").write_text(json.dumps({**LABELS, **BINS}))
    demands = (*TABLE, "--hierarchies", "labels.json", "--k", "4", "--l", "average=3", "--publish", "grade", "-o", "out.csv")
    assert "row 2: " in (said := refused("anonymize", *demands))
    assert ("'average'" in said, "ill" in said, Path("out.csv").exists()) == (True, True, False)
