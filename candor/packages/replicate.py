"""Recompute every number of results.json from data.csv and protocol.json, and compare: `python replicate.py`, in the folder of the files.

In analytics.json, which studies with a privacy budget have, the difficulties are computed again from their noisy counts. Where there are
protected records, check.py looks whether they hold, and what follows from them is computed again.

Needs Candor's library (`candor-trials`), nothing else. Exit 0: every number is the same to 1e-9 (difficulties: to their last decimal), and
every file is as it was signed, by the key in the package. Exit 1: one is not. Where the library's methods are of another version than those
that made the package, only the numbers that both compute alike are compared, and it says so.
"""

import sys

if __name__ == "__main__" and __package__ is None and not getattr(sys.flags, "safe_path", sys.flags.isolated):
    del sys.path[0]  # the folder of this file: a module that somebody put there must not stand in for one of Python's

import csv
import math
import re
import runpy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from candor.categories.distribution import estimate_distribution
from candor.categories.estimates import estimate_categories
from candor.clusters.clustered_categories import estimate_categories_assigned_together
from candor.clusters.clustered_effects import estimate_assigned_together
from candor.clusters.people import AssignedTogether, assigned_together
from candor.designs.design import Design
from candor.equivalence.margin_tests import margin_tests
from candor.equivalence.margins import Margin
from candor.errors import MethodError
from candor.estimators.missing_answers import missing_answers
from candor.estimators.multiplicity import family_tests
from candor.packages.analytics import ANALYTICS, Analytics, recomputed_analytics
from candor.packages.documents import NamedCategories, NamedTests, ProtocolFile, Published, Results
from candor.packages.protected_records import results_of_records
from candor.packages.record_promises import CHECK, RECORDS, Check, faults_of_records
from candor.packages.verification import faults_at
from candor.records.checking import violations
from candor.records.schema import Record
from candor.resampling.blas_threads import single_threaded_blas
from candor.results import Effect, SequentialEstimate
from candor.sequences.looks import decided_in_families, family_of, sequential_estimate
from candor.software import METHOD_VERSION, described
from candor.studies.answers import Answers
from candor.terminal import say
from candor.written_json import json_in

TOLERANCE = 1e-9
FIRST_METHODS = "1"
"""The methods of packages that name no version of them."""
ALIKE = re.compile(
    r"n|epsilon|identified|effects\..+\.(standard_error|honest_times_effect\.(value|standard_error))(?<!bootstrap\.standard_error)"
    r"|specification_test\..+"
)
"""The numbers about a question that all versions of the methods compute alike; intervals, p-values and the bootstrap changed."""
ANOTHER_VERSION = (
    "These numbers were published by {then}, whose methods are of version {before}; those of this library are of version {now}.",
    "Only numbers that both compute alike are compared. An installation of that library gives all of them as they were published.",
    "",
)
CLUSTER = "cluster"
UNKNOWN_CLUSTERS = (
    "clusters were assigned as a whole, and the data do not tell who was in which, because some are so small that their people would stand "
    "out: no standard error, interval or test can be computed from them"
)
Difference = tuple[str, object, object]


def counts_of(data: Iterable[str], protocol: ProtocolFile) -> dict[str, NDArray[np.int64]]:
    """Per yes/no question the number of rows by arm, subsample and reported answer, shape (arms, subsamples, 2); last axis no, yes."""
    design = Design.from_document(protocol["design"])
    arms = {name: index for index, name in enumerate(design.arms)}
    subsamples = {name: index for index, name in enumerate(design.subsample_names)}
    counts = {question["name"]: np.zeros((*design.shape, 2), dtype=np.int64) for question in protocol["questions"]}
    for row in csv.DictReader(data):
        for question in protocol["questions"]:
            if answer := row[question["column"]]:
                counts[question["name"]][arms[row["arm"]], subsamples[row["subsample"]], int(answer)] += 1
    return counts


def categories_of(data: Iterable[str], protocol: ProtocolFile, *, seed: int, level: float) -> NamedCategories:
    """The estimates of the questions with categories, under `categories`; nothing where there are none. Each has a design of its own."""
    asked, found = protocol.get("category_questions", ()), dict[str, Mapping[str, object]]()
    rows = _rows_of(data) if asked else []
    for question in asked:
        design = Design.from_document(question["design"])
        # The last place of each cell counts people without an answer.
        table, answers = np.zeros((*design.shape, len(design.categories) + 1), dtype=np.int64), (*design.categories, "")
        alike = Counter((row["arm"], row["subsample"], row[question["column"]]) for row in rows)
        for (arm, subsample, answer), number in alike.items():
            table[design.arms.index(arm), design.subsample_names.index(subsample), answers.index(answer)] += number
        counts, missing = table[..., :-1], table[..., -1]
        told = [row for row in rows if row[question["column"]]]
        if _in_clusters(protocol) and not all(CLUSTER in row for row in told):
            found[question["name"]] = {"n": int(counts.sum()), "not_estimated": UNKNOWN_CLUSTERS}
            continue
        try:
            if _in_clusters(protocol):
                people = _people_in_clusters(told, [design.categories.index(row[question["column"]]) for row in told], design=design)
                rng = np.random.default_rng(seed)
                found[question["name"]] = asdict(estimate_categories_assigned_together(people, rng=rng, level=level))
                continue
            found[question["name"]] = asdict(
                estimate_distribution(counts, design=design, level=level)
                if question.get("purpose") == "background"
                else estimate_categories(counts, design=design, level=level, missing=missing)
            )
        except MethodError as error:
            found[question["name"]] = {"n": int(counts.sum()), "not_estimated": str(error)}
    return {"categories": found} if found else {}


def _rows_of(data: Iterable[str]) -> list[Mapping[str, str]]:
    """The rows of the data. Those that are alike are one object: a million rows are of a few kinds."""
    lines = csv.reader(data)
    names = next(lines, [])
    row = cache(lambda *cells: MappingProxyType(dict(zip(names, cells, strict=True))))
    return [row(*cells) for cells in lines if cells]


def estimates_of(
    data: Iterable[str], protocol: ProtocolFile, *, replicates: int, seed: int, level: float
) -> Iterator[tuple[str, dict[str, object]]]:
    """Every question with all that follows from its public answers, one after the other."""
    lines = list(data)
    for name, counts in counts_of(lines, protocol).items():
        if _in_clusters(protocol):
            yield name, estimates_in_clusters(lines, protocol, name, n=int(counts.sum()), seed=seed, level=level)
        else:
            yield name, estimates(name, counts, protocol, replicates=replicates, seed=seed, level=level)


def _in_clusters(protocol: ProtocolFile) -> bool:
    return bool(protocol["allocation"].get("unit") == "cluster")


def estimates_in_clusters(
    lines: Iterable[str], protocol: ProtocolFile, question: str, *, n: int, seed: int, level: float
) -> dict[str, object]:
    """The estimates of a study whose clusters were assigned as a whole, if the data tell the clusters."""
    design = Design.from_document(protocol["design"])
    column = next(one["column"] for one in protocol["questions"] if one["name"] == question)
    rows = [row for row in csv.DictReader(lines) if row[column]]
    if not all(CLUSTER in row for row in rows):
        return {"n": n, "not_estimated": UNKNOWN_CLUSTERS}
    try:
        people = _people_in_clusters(rows, [int(row[column]) for row in rows], design=design)
        outcome, assignment = estimate_assigned_together(people, rng=np.random.default_rng(seed), level=level)
    except MethodError as error:
        return {"n": n, "not_estimated": str(error)}
    return {**asdict(outcome), "assignment": asdict(assignment)}


def _people_in_clusters(rows: Sequence[Mapping[str, str]], answers: Sequence[int], *, design: Design) -> AssignedTogether:
    """The people of these rows, with their clusters."""
    return assigned_together(
        np.array(answers, dtype=np.intp),
        np.array([design.arms.index(row["arm"]) for row in rows], dtype=np.intp),
        np.array([design.subsample_names.index(row["subsample"]) for row in rows], dtype=np.intp),
        design=design,
        cluster=[row[CLUSTER] for row in rows],
    )


def estimates(
    question: str, counts: NDArray[np.int64], protocol: ProtocolFile, *, replicates: int, seed: int, level: float
) -> dict[str, object]:
    """Everything that follows from the public answers to one question: all methods without covariates, with their bootstrap."""
    answers = Answers(design=Design.from_document(protocol["design"]), counts=counts)
    try:
        outcome = answers.resample(answers.estimate(level=level), replicates=replicates, seed=seed, level=level, workers=1)
        planned, questions = protocol["allocation"]["planned_with_die"], len(family_of(question, families_of(protocol)))
        sequence = sequential_estimate(counts, design=answers.design, planned_n=planned, questions=questions, level=level)
    except MethodError as error:
        return {"n": int(counts.sum()), "not_estimated": str(error)}
    return {**asdict(outcome), "sequence": sequence}


def families_of(protocol: ProtocolFile) -> Mapping[str, Sequence[str]]:
    """The questions that share one error probability, by their family.

    Older packages say whether these are all that the study asked, also those that were not released, which they do not name.
    """
    if protocol.get("family") == "study":
        released = [question["name"] for question in protocol["questions"]]
        return {"study": [*released, *(f"(not released, {one})" for one in range(len(released), protocol["questions_asked"]))]}
    return protocol["analysis"]["families"] if "analysis" in protocol else {}


def with_directions(outcomes: Mapping[str, dict[str, object]], protocol: ProtocolFile) -> dict[str, dict[str, object]]:
    """The outcomes with their sequences as plain values, after the directions of effects were decided in their family."""
    looks = {name: look for name, outcome in outcomes.items() if isinstance(look := outcome.get("sequence"), SequentialEstimate)}
    decided = decided_in_families(looks, families_of(protocol))
    return dict(outcomes) | {name: {**outcomes[name], "sequence": asdict(look)} for name, look in decided.items()}


def planned_tests(tables: Mapping[str, NDArray[np.int64]], protocol: ProtocolFile) -> NamedTests:
    """The tests that the protocol names, against margins and over families; nothing for packages whose protocol is older than these,
    nor for studies of clusters, which tests against margins do not know.

    A question without enough answers has no test against its margin; in its family it counts as untested, as one that was not released.
    """
    if "analysis" not in protocol or _in_clusters(protocol):
        return {}
    design, planned = Design.from_document(protocol["design"]), protocol["analysis"]
    effects: dict[str, tuple[Effect, ...]] = {name: () for members in planned["families"].values() for name in members}
    margins = {}
    for name, counts in tables.items():
        try:
            effects[name] = Answers(design=design, counts=counts).estimate().effects
        except MethodError:
            continue
        if margin := planned["margins"].get(name):
            against = Margin(size=margin["points"] / 100, worse=margin["worse"])
            margins[name] = [asdict(test) for test in margin_tests(counts, design=design, margin=against)]
    families = family_tests(effects, families=planned["families"], treatments=design.treatments, control=design.control)
    return {"planned_tests": {"margins": margins, "families": [asdict(test) for test in families]}}


def with_missing_answers(
    outcomes: Mapping[str, dict[str, object]], data: Iterable[str], protocol: ProtocolFile
) -> dict[str, dict[str, object]]:
    """The outcomes, those with missing answers with the test and the bounds that say what these could change."""
    design, lines = Design.from_document(protocol["design"]), list(data)
    cells = {(arm, subsample): (a, s) for a, arm in enumerate(design.arms) for s, subsample in enumerate(design.subsample_names)}
    found = dict(outcomes)
    for question in protocol["questions"]:
        name, missing = question["name"], np.zeros(design.shape, dtype=np.int64)
        for row in csv.DictReader(lines):
            missing[cells[row["arm"], row["subsample"]]] += row[question["column"]] == ""
        if missing.any() and "sequence" in outcomes[name]:
            said = missing_answers(counts_of(lines, protocol)[name], missing, design=design)
            found[name] = {**outcomes[name], "missing_answers": said and asdict(said)}
    return found


def recomputed(data: Iterable[str], protocol: ProtocolFile, published: Published) -> Results:
    """The results of the data, computed again with the number of resamples, seed and level of results.json."""
    lines = list(data)
    decided = with_directions(dict(estimates_of(lines, protocol, **published["bootstrap"], level=published["level"])), protocol)
    n = sum(1 for _row in csv.DictReader(lines))
    tests = planned_tests(counts_of(lines, protocol), protocol)
    categories = categories_of(lines, protocol, seed=published["bootstrap"]["seed"], level=published["level"])
    return {"n": n, "outcomes": with_missing_answers(decided, lines, protocol), **tests, **categories}


def results_of(published: Published) -> Mapping[str, object]:
    """The results in results.json itself, without the inputs of the computation."""
    return {name: value for name, value in published.items() if name in ("n", "outcomes", "planned_tests", "categories")}


def pairs(published: object, again: object, path: str = "") -> Iterator[Difference]:
    """Every single value of both sides, with its place; a value that only one side has is compared with None."""
    if isinstance(published, list | tuple) and isinstance(again, list | tuple):
        published, again = dict(enumerate(published)), dict(enumerate(again))
    if isinstance(published, Mapping) and isinstance(again, Mapping):
        for key in {**published, **again}:
            yield from pairs(published.get(key), again.get(key), f"{path}.{key}" if path else str(key))
    else:
        yield path, published, again


def is_same(published: object, again: object, *, tolerance: float = TOLERANCE) -> bool:
    """Numbers to 1e-9, or to the tolerance where that is larger; everything else exactly."""
    if not isinstance(published, int | float) or not isinstance(again, int | float) or bool in (type(published), type(again)):
        return published == again
    return math.isclose(published, again, rel_tol=TOLERANCE, abs_tol=max(tolerance, TOLERANCE))


def compared(name: str, before: object, after: object, *, tolerance: float = TOLERANCE) -> tuple[int, list[Difference]]:
    """How many values there are, and those that are not the same."""
    values = list(pairs(before, after, name))
    return len(values), [one for one in values if not is_same(one[1], one[2], tolerance=tolerance)]


def compared_analytics(document: Analytics) -> dict[str, tuple[int, list[Difference]]]:
    """The same for each part of analytics.json that follows from the rest of it."""
    return {one.name: compared(one.name, one.published, one.again, tolerance=one.tolerance) for one in recomputed_analytics(document)}


def compared_records(
    records: Sequence[Record],
    protocol: ProtocolFile,
    published: Published,
    rows: Sequence[Mapping[str, str]],
    *,
    check: Check = violations,
) -> dict[str, tuple[int, list[Difference]]]:
    """Whether the records hold, and the differences in what follows from them."""
    faults = faults_of_records(records, protocol, rows, check=check)
    found: dict[str, tuple[int, list[Difference]]] = {"(records hold)": (len(records), [(RECORDS, "no fault", fault) for fault in faults])}
    if methods_of(published) == METHOD_VERSION:
        again = results_of_records(records, protocol, level=published["level"])
        found["(records)"] = compared("records", published["records"], again)
    return found


def methods_of(published: Published) -> str:
    """The version of the methods that made results.json."""
    return str(published.get("software", {}).get("methods", FIRST_METHODS))


def alike_in_all_versions(outcome: Mapping[str, object] | None) -> dict[str, object]:
    """The values of one question that every version of the methods computes alike, by their places; effects by method and arm.

    A question with categories gives its number of people and its privacy loss.
    """
    effects = None if outcome is None or "categories" in outcome else outcome.get("effects")
    if outcome is None or not isinstance(effects, Sequence):
        return {} if outcome is None else {name: outcome[name] for name in ("n", "epsilon") if name in outcome}
    named = {**outcome, "effects": {f"{effect['method']} of {effect['treatment']}": effect for effect in effects}}
    values = {place: value for place, value, _ in pairs(named, named)}
    return {place: value for place, value in values.items() if ALIKE.fullmatch(place)}


@single_threaded_blas()
def main(folder: Path) -> int:
    """Print a table with a line for the number of rows and for each question, and a line for each difference."""
    # Editors and spreadsheets may have put a byte order mark before a file that they saved.
    published = json_in((folder / "results.json").read_bytes())
    protocol = json_in((folder / "protocol.json").read_bytes())
    with (folder / "data.csv").open(encoding="utf-8-sig", newline="") as data:
        again = recomputed(data, protocol, published)
    old, new = ({**one["outcomes"], **one.get("categories", {})} for one in (published, again))
    outcomes = {name: (old.get(name), new.get(name)) for name in old | new}
    same_methods = methods_of(published) == METHOD_VERSION
    if same_methods and "planned_tests" in published | again:
        outcomes["(planned tests)"] = (published.get("planned_tests"), again.get("planned_tests"))
    if not same_methods:
        versions = {"then": described(published.get("software", {})), "before": methods_of(published), "now": METHOD_VERSION}
        say(*(line.format(**versions) for line in ANOTHER_VERSION))
        outcomes = {name: (alike_in_all_versions(before), alike_in_all_versions(after)) for name, (before, after) in outcomes.items()}
    checks = {name: compared(name, *both) for name, both in {"(number of rows)": (published["n"], again["n"]), **outcomes}.items()}
    if (folder / ANALYTICS).exists():
        checks |= compared_analytics(json_in((folder / ANALYTICS).read_bytes()))
    if (folder / RECORDS).exists():
        records = json_in((folder / RECORDS).read_bytes())
        with (folder / "data.csv").open(encoding="utf-8-sig", newline="") as data:
            rows = list(csv.DictReader(data))
        check = runpy.run_path(str(folder / CHECK))["violations"]
        checks |= compared_records(records, protocol, published, rows, check=check)
    say(f"{'question':<40} {'values':>7} {'differ':>7}")
    for name, (values, wrong) in checks.items():
        say(f"{name:<40} {values:>7} {len(wrong):>7}")
        after = outcomes.get(name, (None, None))[1]
        if reason := after.get("not_estimated") if isinstance(after, Mapping) else None:
            say(f"  no estimates: {reason}")
        for place, one, other in wrong:
            say(f"  {place}: published {one}, recomputed {other}")
    different = any(wrong for _values, wrong in checks.values())
    which = "Every number" if same_methods else "Every number that both versions compute alike"
    say("Some numbers are not those that were published." if different else f"{which} is the same.")
    return 1 if different else 0


def told_changes(folder: Path) -> int:
    """Say which files are not as they were signed; 1 if there are any, else 0."""
    for fault in (faults := faults_at(folder)):
        say(f"{fault.file}: {fault.what}")
    return int(bool(faults))


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    changed = told_changes(where)
    sys.exit(main(where) or changed)
