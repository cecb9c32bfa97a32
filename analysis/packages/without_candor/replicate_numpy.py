"""Check the files of a data package and compute its estimates again, without Candor: `python replicate_numpy.py`, in their folder.

The formulas are those of Candor's docs/methods.md. Needs Python 3.10 or later with NumPy, and check_files.py, named_answers.py and
likelihood_region.py beside it. Exit 0: every file is as it was signed, and every number computed here is the published one to 1e-9; else
1. Without another key, as in `python replicate_numpy.py . signing-key.pem`, the signature is checked by the key in the package, which
proves less. Computed is every number about questions whose answers are named, intervals by likelihood too. Yes/no questions have effects
by both methods, people who do not follow the die, and prevalence, with standard errors, p-values, Holm's adjustment, Fieller's and Wald's
intervals, and the test of the model. Left to replicate.py, which needs Candor's library: their intervals by likelihood, the bootstrap,
sequences, planned tests, estimates at the edge of what is possible, studies that assigned whole sections, analytics.json and records.json.

THE WRONG ANALYSIS compares the shares of reported "yes". The die dictated some reports, so it estimates x · truth · τ and not the effect
τ: x is the share of people who follow the die, truth = 1 - forced no - forced yes. Right is τ = (difference of the shares) / (x · truth).
"""

import sys

if __name__ == "__main__" and __package__ is None and not getattr(sys.flags, "safe_path", sys.flags.isolated):
    del sys.path[0]  # the folder of this file: a module that somebody put there must not stand in for one of Python's

import csv
import itertools
import json
import math
import runpy
import statistics
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

TOLERANCE, ROUNDING = 1e-9, 1e-9
NO, YES = 0, 1
NOT_HERE = "  left to replicate.py, or none: whole sections were assigned, or in some group nobody answered"
Array = NDArray[np.floating]
Found = dict[str, Any]


def upper_tail(half: float, x: float) -> float:
    """Q(half, x) for half a whole number: the upper tail of chi-squared with 2 half degrees of freedom at 2x."""
    if x <= 0:
        return 1.0
    at = 0.5 if half % 1 else 1.0
    total = math.erfc(math.sqrt(x)) if half % 1 else math.exp(-x)
    while at < half:
        total += math.exp(at * math.log(x) - x - math.lgamma(at + 1))
        at += 1
    return total


def p_value(value: float, error: float) -> float | None:
    return upper_tail(0.5, (value / error) ** 2 / 2) if error > 0 else None


def holm(values: list[float | None]) -> list[float | None]:
    adjusted: list[float | None] = [None] * len(values)
    largest, order = 0.0, sorted((value, at) for at, value in enumerate(values) if value is not None)
    for rank, (value, at) in enumerate(order):
        adjusted[at] = largest = max(largest, min(1.0, (len(values) - rank) * value))
    return adjusted


class Design:
    """The design as numbers, and what it identifies, which exact fractions decide."""

    def __init__(self, document: Found) -> None:
        self.arms, self.names = list(document["arms"]), list(document["subsamples"])
        self.control = self.arms.index(document["control"])
        self.treatments = [at for at in range(len(self.arms)) if at != self.control]
        yes = [Fraction(one["forced_yes"]) for one in document["subsamples"].values()]
        truth = [1 - Fraction(one["forced_no"]) - more for one, more in zip(document["subsamples"].values(), yes, strict=True)]
        model = document.get("cheater_model")
        rate = model.get("yes_rate") if isinstance(model, dict) else {"always_no": "0", "always_yes": "1"}.get(str(model))
        known = None if rate is None else Fraction(str(rate))
        line = on_one_line([(one - truth[0], more - yes[0]) for one, more in zip(truth, yes, strict=True)])
        self.equal = all(one == truth[0] for one in truth)
        self.found = (
            self.equal or not line
            if known is None
            else not on_one_line([(one, more - known) for one, more in zip(truth, yes, strict=True)])
        )
        self.tells_prevalence = not line if known is None else self.found
        self.truth, self.forced = np.array([float(one) for one in truth]), np.array([float(one) for one in yes])
        self.known = None if known is None else float(known)
        shares = (document.get("allocation") or {}).get("subsamples") or dict.fromkeys(self.names, Fraction(1, len(self.names)))
        self.shares = np.array([float(Fraction(shares[name])) for name in self.names])


def on_one_line(points: list[tuple[Fraction, Fraction]]) -> bool:
    return all(a * d == b * c for (a, b), (c, d) in itertools.combinations(points, 2))


def counts_of(rows: list[dict[str, str]], column: str, design: Design) -> Array:
    """The number of rows by arm, subsample and answer; rows without an answer are left out."""
    counts = np.zeros((len(design.arms), len(design.names), 2))
    for row in rows:
        if row[column]:
            counts[design.arms.index(row["arm"]), design.names.index(row["subsample"]), int(row[column])] += 1
    return counts


class CellModel:
    """The share of "yes" in every arm of every subsample as a linear function: of each arm's x·π, and of x and c."""

    def __init__(self, design: Design) -> None:
        arms, self.offset = len(design.arms), design.known or 0.0
        extra = []
        if not design.found:
            extra = [np.ones_like(design.truth)] if design.known is None else []
        else:
            extra = [design.forced - self.offset] + ([] if design.known is not None or design.equal else [np.ones_like(design.truth)])
        blocks = [np.kron(np.eye(arms), design.truth[:, None]), *(np.tile(one, arms)[:, None] for one in extra)]
        self.matrix, self.honest = np.hstack(blocks), arms if design.found else None
        inside = (design.truth / 2 + design.forced) / 2 + (0.5 if design.known is None else design.known) / 2
        self.inside = np.tile(inside, arms)


def most_likely(table: Array, matrix: Array, model: CellModel) -> Array:
    """The top of the concave likelihood by Newton's steps, cut where they would leave what is possible."""
    full = np.where(table == 0, 0.5, table)
    no, yes = full[:, NO], full[:, YES]

    def height(means: Array) -> float:
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(yes @ np.log(means) + no @ np.log(1 - means))

    beta = np.linalg.lstsq(matrix, model.inside - model.offset, rcond=None)[0]
    for _ in range(100):
        mu = matrix @ beta + model.offset
        slope = matrix.T @ (yes / mu - no / (1 - mu))
        change = np.linalg.solve((matrix.T * (yes / mu**2 + no / (1 - mu) ** 2)) @ matrix, slope)
        shift = matrix @ change
        way, gain = float(np.maximum(-shift / mu, shift / (1 - mu)).max()), float(slope @ change)
        if way > 0.2:
            length, before = 0.95 / max(way, 0.95), height(mu)
            for _half in range(30):
                if height(mu + length * shift) - before >= 0.1 * length * gain - 1e-12 * abs(before):
                    break
                length /= 2
            change = change * length
        beta = beta + change
        if np.abs(shift / np.minimum(mu, 1 - mu)).max() <= 1e-5 or np.abs(change).max() <= 1e-9:
            break
    return beta


def fitted(table: Array, matrix: Array, model: CellModel) -> tuple[Array, Array, Array]:
    beta, sizes = most_likely(table, matrix, model), table.sum(axis=1)
    means = matrix @ beta + model.offset
    least = 0.5 / (sizes + 1)
    share = np.clip(means, least, 1 - least)
    return beta, means, sizes / (share * (1 - share))


def inverse_gram(matrix: Array, weights: Array) -> Array:
    return np.linalg.inv((matrix.T * weights) @ matrix)


def efficient(counts: Array, design: Design) -> Found:
    """Δ = x·τ of each treatment and x with their covariance, by maximum likelihood, and the test of the model."""
    table, model = counts.reshape(-1, 2), CellModel(design)
    matrix, honest, n = model.matrix, model.honest, counts.sum()
    beta, means, weights = fitted(table, matrix, model)
    covariance, contrasts = inverse_gram(matrix, weights), []
    for arm in design.treatments:
        row = np.eye(len(beta))[arm] - np.eye(len(beta))[design.control]
        alike = np.delete(matrix, arm, axis=1)
        alike[:, design.control - (arm < design.control)] += matrix[:, arm]
        pooled = inverse_gram(matrix, fitted(table, alike, model)[2])
        contrasts.append(
            {
                "value": row @ beta,
                "variance": row @ covariance @ row,
                "null_variance": row @ pooled @ row * n / max(n - alike.shape[1], 1),
                "covariance": math.nan if honest is None else row @ covariance[honest],
            }
        )
    x, x_variance = (math.nan, math.nan) if honest is None else (beta[honest], covariance[honest, honest])
    df = len(table) - len(beta)
    statistic = float(weights @ (table[:, YES] / table.sum(axis=1) - means) ** 2)
    test = {"statistic": statistic, "df": df, "p_value": upper_tail(df / 2, max(statistic, 0) / 2)} if df else None
    found = {"beta": beta, "covariance": covariance, "contrasts": contrasts, "honest": honest}
    return {**found, "x": x, "x_variance": x_variance, "test": test}


def difference_in_means(counts: Array, design: Design) -> Found:
    """The paper's moment estimator, by the influence of every person on the differences and on x."""
    truth, forced, control, n = design.truth, design.forced, design.control, counts.sum()
    by_subsample, by_arm = counts.sum(axis=0), counts.sum(axis=1)
    mean_subsample, mean_arm = by_subsample[:, YES] / by_subsample.sum(axis=1), by_arm[:, YES] / by_arm.sum(axis=1)
    size_subsample, size_arm = by_subsample.sum(axis=1), by_arm.sum(axis=1)
    mean_truth, answers = truth @ size_subsample / n, np.array([0.0, 1.0])
    x, of_x = math.nan, np.full(counts.shape, math.nan)
    if design.found:
        offset, ones = design.known or 0.0, np.ones_like(truth)
        rows = np.array([forced - offset, *([] if design.equal else [truth]), *([ones] if design.known is None or design.equal else [])])
        solved = np.linalg.solve((rows * design.shares) @ rows.T, np.eye(len(rows))[0])
        weights = design.shares * (solved @ rows)
        x = float(weights @ (mean_subsample - offset))
        of_x = np.broadcast_to((weights * n / size_subsample)[:, None] * (answers - mean_subsample[:, None]), counts.shape)
    contrasts = []
    for arm in design.treatments:
        value = (mean_arm[arm] - mean_arm[control]) / mean_truth
        both = size_arm[arm] + size_arm[control]
        pooled = (by_arm[arm, YES] + by_arm[control, YES]) / both
        part = np.zeros(counts.shape)
        for sign, one in ((1, arm), (-1, control)):
            part[one] = sign * n * (answers - mean_arm[one]) / size_arm[one]
        influence = (part - value * (truth - mean_truth)[:, None]) / mean_truth
        null = pooled * (1 - pooled) * (1 / size_arm[arm] + 1 / size_arm[control]) * both / max(both - 1, 1) / mean_truth**2
        variance, covariance = (counts * influence**2).sum() / n**2, (counts * influence * of_x).sum() / n**2
        contrasts.append({"value": value, "variance": variance, "null_variance": null, "covariance": covariance})
    return {"contrasts": contrasts, "x": x, "x_variance": (counts * of_x**2).sum() / n**2}


def fieller(top: float, x: float, variance: float, x_variance: float, covariance: float, level: float, z: float) -> Found:
    a, b, c = x**2 - z**2 * x_variance, top * x - z**2 * covariance, top**2 - z**2 * variance
    if not a > 0 or abs(x) <= ROUNDING:
        return {"kind": "unbounded", "low": None, "high": None, "level": level}
    root = math.sqrt(max(b**2 - a * c, 0))
    low, high = (b - root) / a, (b + root) / a
    if x <= 0 or low > 1 or high < -1:
        return {"kind": "empty", "low": None, "high": None, "level": level}
    return {"kind": "fieller", "low": max(low, -1), "high": min(high, 1), "level": level}


def ratio_error(ratio: float, x: float, variance: float, x_variance: float, covariance: float) -> float:
    return math.sqrt(max(variance - 2 * ratio * covariance + ratio**2 * x_variance, 0)) / x


def effects_of(fit: Found, method: str, design: Design, level: float, contradicted: bool) -> list[Found]:
    """One effect for each treatment; without the value where limits move the estimate, which only the likelihood tells."""
    z, x, x_variance = statistics.NormalDist().inv_cdf((1 + level) / 2), fit["x"], fit["x_variance"]
    tests = []
    for one in fit["contrasts"]:
        error = math.sqrt(max(one["variance"], 0))
        p = p_value(one["value"], math.sqrt(max(one["variance"], one["null_variance"]))) if error > 1e-12 else None
        tests.append({"value": one["value"], "standard_error": error if error > 1e-12 else None, "p_value": p})
    adjusted, effects = holm([test["p_value"] for test in tests]), []
    for arm, one, test, p in zip(design.treatments, fit["contrasts"], tests, adjusted, strict=True):
        found = {"treatment": design.arms[arm], "control": design.arms[design.control], "method": method}
        found.update(p_value=test["p_value"], adjusted_p_value=p, honest_times_effect=test, fieller=None)
        delta, value = one["value"], one["value"] / x if x else math.nan
        if math.isnan(x):
            found.update(value=None, standard_error=None, wald=None, honest_proportion=None)
            effects.append(found)
            continue
        if test["standard_error"] is not None:
            widest = max(one["variance"], one["null_variance"])
            found["fieller"] = fieller(delta, x, widest, x_variance, one["covariance"], level, z)
        if contradicted:
            found.update(value=None, standard_error=None, wald=None)
        elif ROUNDING < x <= 1 and abs(value) <= 1:
            of_ratio, wald = None, None
            if test["standard_error"] is not None:
                of_ratio = error = ratio_error(value, x, one["variance"], x_variance, one["covariance"])
                ends = (value - z * error, value + z * error) if error > 0 else (None, None)
                wald = {"kind": "wald", "low": ends[0], "high": ends[1], "level": level}
            found.update(value=value, standard_error=of_ratio, wald=wald, honest_proportion=x)
        effects.append(found)
    return effects


def outcome_of(counts: Array, design: Design, level: float, contradicted: bool) -> Found:
    """All that is computed here of one question, as results.json has it."""
    n = int(counts.sum())
    if (counts.sum(axis=2) == 0).any():
        return {"n": n}
    fit = efficient(counts, design)
    x, honest = fit["x"], fit["honest"]
    cheaters: Found = {"value": None, "raw": None, "standard_error": None}
    if honest is not None:
        constant = (counts == 0).all(axis=0).any(axis=1).all()
        cheaters = {"raw": 1 - x, "standard_error": None if constant else math.sqrt(fit["x_variance"])}
        largest = max((abs(one["value"]) for one in fit["contrasts"]), default=0)
        if contradicted:
            cheaters["value"] = None
        elif largest <= x <= 1 + ROUNDING:
            cheaters["value"] = max(0, 1 - x)
    effects = effects_of(fit, "efficient", design, level, contradicted)
    effects += effects_of(difference_in_means(counts, design), "difference_in_means", design, level, contradicted)
    found = {"n": n, "cheater_proportion": cheaters, "effects": effects, "specification_test": fit["test"]}
    if design.tells_prevalence:
        found["prevalence"] = [prevalence(arm, at, fit, contradicted) for at, arm in enumerate(design.arms)]
    return found


def prevalence(arm: str, at: int, fit: Found, contradicted: bool) -> Found:
    if contradicted:
        return {"arm": arm, "value": None, "standard_error": None}
    x, honest, covariance = fit["x"], fit["honest"], fit["covariance"]
    value = fit["beta"][at] / x
    if not (ROUNDING < x <= 1 and 0 <= value <= 1):
        return {"arm": arm}
    error = ratio_error(value, x, covariance[at, at], fit["x_variance"], covariance[at, honest])
    return {"arm": arm, "value": value, "standard_error": error}


def recomputed(rows: list[dict[str, str]], protocol: Found, results: Found) -> Found:
    """The part of results.json that is computed here; of that file come the level, and whether answers contradict the model."""
    design, level = Design(protocol["design"]), results.get("level", 0.95)
    whole, outcomes = (protocol.get("allocation") or {}).get("unit") == "cluster", dict[str, Found]()
    for question in protocol["questions"]:
        counts = counts_of(rows, question["column"], design)
        test = results["outcomes"].get(question["name"], {}).get("model_test")
        contradicted = bool(test and test["p_value"] < 1 - level)
        outcomes[question["name"]] = {"n": int(counts.sum())} if whole else outcome_of(counts, design, level, contradicted)
    found: Found = {"n": len(rows), "outcomes": outcomes}
    if named := protocol.get("category_questions"):
        estimate = runpy.run_path(str(Path(__file__).resolve().with_name("named_answers.py")))["recomputed"]
        found["categories"] = {
            question["name"]: {"n": sum(row[question["column"]] != "" for row in rows)} if whole else estimate(rows, question, level)
            for question in named
        }
    return found


def compared(again: object, published: object, place: str = "") -> Iterator[tuple[str, object, object]]:
    """Every value that was computed, with its place, and the published one. Effects are found by method and arm."""
    if isinstance(again, dict):
        for key, value in again.items():
            other = published.get(key) if isinstance(published, dict) else None
            yield from compared(value, other, f"{place}.{key}" if place else key)
    elif isinstance(again, list):
        others = published if isinstance(published, list) else []
        for at, one in enumerate(again):
            alike = others[at : at + 1]
            if isinstance(one, dict):
                names = [name for name in ("method", "treatment", "arm", "measure", "category") if name in one]
                alike = [other for other in others if all(other.get(name) == one[name] for name in names)]
            yield from compared(one, alike[0] if alike else None, f"{place}.{at}")
    else:
        yield place, again, published


def is_same(again: object, published: object) -> bool:
    if isinstance(again, int | float) and isinstance(published, int | float):
        return math.isclose(again, published, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return again == published


def once(pairs: list[tuple[str, object]]) -> Found:
    if len(pairs) > len(dict(pairs)):
        raise ValueError("a name stands twice in one object")
    return dict(pairs)


def main(folder: Path, key: bytes | None = None) -> int:
    checker = runpy.run_path(str(Path(__file__).resolve().with_name("check_files.py")))
    faults, say = checker["faults_in"](folder, key), checker["say"]
    say(*faults or ["Every file is as it was signed."])
    try:
        protocol, results = (json.loads((folder / name).read_bytes(), object_pairs_hook=once) for name in ("protocol.json", "results.json"))
        with (folder / "data.csv").open(encoding="utf-8-sig", newline="") as data:
            again = recomputed(list(csv.DictReader(data)), protocol, results)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        say(f"The numbers cannot be computed again: a file is not as it should be: {error!r}")
        return 1
    values = list(compared(again, results))
    different = [(place, found, published) for place, found, published in values if not is_same(found, published)]
    for asked, estimated, shown in (("questions", "outcomes", show), ("category_questions", "categories", show_named)):
        for question in protocol.get(asked, ()):
            one = again[estimated][question["name"]]
            say(question.get("text", question["name"]), *([NOT_HERE] if set(one) == {"n"} else shown(one)))
    for place, found, published in different:
        say(f"{place}: published {published}, computed again {found}")
    say(f"{len(values)} numbers were computed again, {len(different)} differ from those that were published.")
    return 1 if different or faults else 0


def show(outcome: Found) -> Iterator[str]:
    """The estimates of one question, for people."""
    for one in outcome.get("effects", ()):
        value, error = one.get("value"), one.get("standard_error")
        said = "left to replicate.py, or none" if value is None else f"{value:+.4f}" + (f" (standard error {error:.4f})" if error else "")
        yield f"  {one['treatment']} against {one['control']}, {one['method']}: {said}"
    for one in outcome.get("prevalence", ()):
        if one.get("value") is not None:
            yield f"  yes in {one['arm']}: {one['value']:.4f}"
    if outcome.get("cheater_proportion", {}).get("value") is not None:
        yield f"  do not follow the die: {outcome['cheater_proportion']['value']:.4f}"


def show_named(outcome: Found) -> Iterator[str]:
    """The estimates of one question with named answers, for people."""
    for one in [*outcome.get("effects", ()), *outcome.get("prevalence", ())]:
        what = one["category"] and (f"at least {one['category']}" if one["measure"] == "at_least" else one["category"])
        who = f"{one['treatment']} against {one['control']}" if "treatment" in one else one["arm"]
        value, ends = one["value"], one["interval"]
        said = "none" if value is None else f"{value:+.4f}" if "treatment" in one else f"{value:.4f}"
        yield f"  {who}, {what or 'mean score'}: {said}" + ("" if ends["low"] is None else f" ({ends['low']:.4f} to {ends['high']:.4f})")
    if outcome.get("cheater_proportion", {}).get("value") is not None:
        yield f"  do not follow the die: {outcome['cheater_proportion']['value']:.4f}"


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    sys.exit(main(where, Path(sys.argv[2]).read_bytes() if len(sys.argv) > 2 else None))
