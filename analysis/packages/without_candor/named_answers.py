"""The estimates of questions whose answers are named, for replicate_numpy.py: the formulas of Candor's docs/methods.md, with NumPy alone.

Computed is every number that results.json has under `categories`: people who do not follow the die, the share of each answer by arm, of
ordered ones also of each and all above it, and the mean score; effects on all of these, with standard errors, p-values, Holm's adjustment,
intervals by likelihood and Wald's; the tests of no effect, of the model and of its limits; and what missing answers could change.
"""

from __future__ import annotations

import itertools
import math
import runpy
import statistics
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]
Found = dict[str, object]
ROUNDING, EVERYBODY = 1e-9, "all arms"
beside = runpy.run_path(str(Path(__file__).resolve().with_name("likelihood_region.py")))
chi_square, of_others, of_truth, Region = (beside[name] for name in ("chi_square", "of_others", "of_truth", "Region"))


class DesignDocument(TypedDict, total=False):
    """The design of one question, as protocol.json has it."""

    arms: list[str]
    control: str
    categories: list[str]
    scores: list[str]
    subsamples: dict[str, dict[str, str]]
    cheater_model: str | dict[str, str | dict[str, str]]


class Question(TypedDict, total=False):
    """A question, as protocol.json has it."""

    name: str
    column: str
    purpose: str
    design: DesignDocument


def holm(values: list[float]) -> list[float]:
    adjusted, largest = [math.nan] * len(values), 0.0
    for rank, (value, at) in enumerate(sorted((value, at) for at, value in enumerate(values))):
        adjusted[at] = largest = max(largest, min(1.0, (len(values) - rank) * value))
    return adjusted


def dependent(points: list[tuple[Fraction, Fraction]]) -> bool:
    return all(a * d == b * c for (a, b), (c, d) in itertools.combinations(points, 2))


class Design:
    """The design as numbers, and what it identifies, which exact fractions decide."""

    def __init__(self, document: DesignDocument) -> None:
        self.arms, self.names, self.categories = document["arms"], list(document["subsamples"]), document["categories"]
        self.control = self.arms.index(document["control"])
        self.treatments = [at for at in range(len(self.arms)) if at != self.control]
        self.scores = [float(Fraction(one)) for one in document.get("scores", ())]
        forced = [[Fraction(one[name]) for name in self.categories] for one in document["subsamples"].values()]
        truth, size = [1 - sum(one, Fraction(0)) for one in forced], len(self.categories)
        model = document.get("cheater_model")
        stated = None if not isinstance(model, dict) else model.get("distribution", {str(model.get("always")): "1"})
        q = [Fraction(stated.get(name, "0")) for name in self.categories] if isinstance(stated, dict) else None
        self.line = all(
            dependent([(t - truth[0], one[c] - forced[0][c]) for t, one in zip(truth, forced, strict=True)]) for c in range(size)
        )
        self.equal = len(set(truth)) == 1
        self.found = self.equal or not self.line
        if q is not None:
            self.found = not all(dependent([(t, one[c] - q[c]) for t, one in zip(truth, forced, strict=True)]) for c in range(size))
        self.tells_prevalence = self.found if q is not None else not self.line
        self.truth, self.forced = np.array(truth, dtype=float), np.array(forced, dtype=float)
        self.q = None if q is None else np.array(q, dtype=float)

    @property
    def epsilon(self) -> float | None:
        with np.errstate(divide="ignore"):
            largest = float(((self.truth[:, None] + self.forced) / self.forced).max())
        return math.log(largest) if math.isfinite(largest) else None


@dataclass(frozen=True)
class Measure:
    """A number about each arm: weights of its answers, between 0 and 1, which stand for low + spread times them."""

    kind: str
    category: str | None
    weights: Array
    low: float = 0.0
    spread: float = 1.0


def measures_of(design: Design) -> list[Measure]:
    names, unit = design.categories, np.eye(len(design.categories))
    found = [Measure("category", name, unit[c]) for c, name in enumerate(names)]
    if design.scores:
        found += [Measure("at_least", names[c], np.triu(np.ones_like(unit))[c]) for c in range(1, len(names))]
        low, spread = design.scores[0], design.scores[-1] - design.scores[0]
        found.append(Measure("mean_score", None, (np.array(design.scores) - low) / spread, low, spread))
    return found


class CategoryModel:
    """The shares of every answer in every cell as matrix · β + offset: of each arm's x·p of all answers but the first, x, and (1 − x)q."""

    def __init__(self, design: Design) -> None:
        size, cells = len(design.categories), len(design.arms) * len(design.names)
        q = np.zeros(size) if design.q is None else design.q
        columns, on = [of_truth(design)], of_others(size)
        self.honest = columns[0].shape[1] if design.found else None
        if design.found:
            columns.append(np.tile(((design.forced[:, 1:] - q[1:]) @ on.T).reshape(-1, 1), (len(design.arms), 1)))
        if design.q is None and not design.equal:
            columns.append(np.tile(on, (cells, 1)))
        self.matrix, self.offset = np.hstack(columns), np.tile([1 - q[1:].sum(), *q[1:]], cells)
        middle = (design.truth[:, None] / size + design.forced) / 2 + (np.full(size, 1 / size) if design.q is None else q) / 2
        self.inside = np.linalg.lstsq(self.matrix, np.tile(middle.reshape(-1), len(design.arms)) - self.offset, rcond=None)[0]


def fitted(counts: Array, matrix: Array, offset: Array, start: Array) -> tuple[Array, Array, Array]:
    """The top of the concave likelihood by Newton's steps: β, the shares, and the weights of the expected information."""
    answers, beta = np.where(counts > 0, counts, 0.5).reshape(-1), start
    for _ in range(100):
        mu = matrix @ beta + offset
        step = np.linalg.solve((matrix.T * (answers / mu**2)) @ matrix, matrix.T @ (answers / mu))
        shift = matrix @ step
        length, gain, height = 0.95 / max(0.95, float((-shift / mu).max())), float(answers @ (shift / mu)), float(answers @ np.log(mu))
        for _half in range(40):
            if answers @ np.log(mu + length * shift) - height >= 0.1 * length * gain - 1e-12 * abs(height):
                break
            length /= 2
        beta = beta + length * step
        if np.abs(step).max() <= 1e-12 or np.abs(length * shift / mu).max() <= 1e-12:
            break
    shares, people = matrix @ beta + offset, counts.sum(axis=-1, keepdims=True)
    least = 0.5 / (people + 1)
    return beta, shares, (people / np.clip(shares.reshape(counts.shape), least, 1 - least)).reshape(-1)


class Fit:
    """The fit without limits, with its covariance, and for each treatment the covariance without an effect."""

    def __init__(self, counts: Array, design: Design) -> None:
        self.model, self.design = CategoryModel(design), design
        matrix, self.honest = self.model.matrix, self.model.honest
        self.beta, self.shares, self.weights = fitted(counts, matrix, self.model.offset, self.model.inside)
        self.covariance = np.linalg.inv((matrix.T * self.weights) @ matrix)
        others, people, self.nulls = len(design.categories) - 1, counts.sum(), {}
        for arm in design.treatments:
            alike, columns = matrix.copy(), slice(arm * others, (arm + 1) * others)
            alike[:, design.control * others : (design.control + 1) * others] += alike[:, columns]
            alike = np.delete(alike, columns, axis=1)
            start = np.linalg.lstsq(alike, matrix @ self.model.inside, rcond=None)[0]
            weights = fitted(counts, alike, self.model.offset, start)[2]
            self.nulls[arm] = np.linalg.inv((matrix.T * weights) @ matrix) * people / max(people - alike.shape[1], 1)

    def of_arm(self, arm: int, weights: Array) -> Array:
        others = len(self.design.categories) - 1
        row = np.zeros((*weights.shape[:-1], len(self.beta)))
        row[..., arm * others : (arm + 1) * others] = weights[..., 1:] - weights[..., :1]
        return row

    def contrast(self, arm: int, weights: Array) -> Array:
        return self.of_arm(arm, weights) - self.of_arm(self.design.control, weights)

    def ratio(self, row: Array, *, cut: bool = False) -> tuple[float, float] | None:
        """row · β / x with its standard error; None where nobody is honest, or x is not known. `cut`: x above 1 is 1."""
        if self.honest is None or self.beta[self.honest] <= ROUNDING:
            return None
        raw = float(self.beta[self.honest])
        x = min(raw, 1.0) if cut else raw
        along = float(row @ self.covariance[self.honest] / self.covariance[self.honest, self.honest])
        value = (float(row @ self.beta) - along * (raw - x)) / x
        gradient = row / x
        gradient[self.honest] -= value / x
        return value, math.sqrt(max(float(gradient @ self.covariance @ gradient), 0.0))

    def many_at_ends(self) -> bool:
        """Whether two shares, or what effects leave of x, are less than two standard errors from 0: no case for the quantiles."""
        design, unit = self.design, np.eye(len(self.design.categories))
        if self.honest is None or (len(unit) == 2 and len(design.arms) <= 2):
            return False
        shares = np.array([self.of_arm(arm, unit) for arm in range(len(design.arms))])
        shares[:, 0, self.honest] += 1
        x = np.eye(len(self.beta))[self.honest]
        rows = np.concatenate([*shares, *(x - one + other for one, other in itertools.permutations(shares, 2))])
        errors = np.sqrt(np.einsum("mp,pq,mq->m", rows, self.covariance, rows))
        return int((rows @ self.beta < 2 * errors).sum()) > 1

    def without_limits(self, row: Array, z: float, *, plus: float = 0.0, lowest: float = -1.0) -> tuple[float, float] | None:
        """Fieller's limits of plus + row · β / x for x above 0, from the lowest to 1; None where there is none."""
        both = np.stack([row, np.eye(len(self.beta))[self.honest]])
        both[0] += plus * both[1]
        (top, x), spread = both @ self.beta, z**2 * both @ self.covariance @ both.T
        a, b, c = x**2 - spread[1, 1], top * x - spread[0, 1], top**2 - spread[0, 0]
        if a <= 0 and b**2 <= a * c:
            return lowest, 1.0
        root, side = math.sqrt(max(b**2 - a * c, 0)), math.copysign(1, top * spread[1, 1] - x * spread[0, 1])
        if a <= 0:
            end = c / least if (least := side * b + root) else math.inf
            low, high = (end, 1.0) if side > 0 else (lowest, -end)
        else:
            low, high = (b - root) / a, (b + root) / a
        return None if (a > 0 and x <= 0) or low > 1 or high < lowest else (max(low, lowest), min(high, 1.0))


class Outcome:
    """All numbers of one table of counts by arm, subsample and answer."""

    def __init__(self, counts: Array, design: Design, level: float) -> None:
        self.counts, self.design, self.level, self.measures = counts, design, level, measures_of(design)
        self.fit = Fit(counts, design)
        model = self.fit.model
        weights, unlimited = [one.weights for one in self.measures], (model.matrix, model.offset, model.inside)
        self.region = Region(counts, design, weights, unlimited=unlimited, level=level)
        deltas = [abs(float(self.fit.contrast(arm, one) @ self.fit.beta)) for arm in design.treatments for one in weights]
        x = math.nan if self.fit.honest is None else float(self.fit.beta[self.fit.honest])
        self.limited, self.z = self.fit.many_at_ends(), statistics.NormalDist().inv_cdf((1 + level) / 2)
        self.is_possible = max(deltas, default=0.0) - ROUNDING <= x <= 1 + ROUNDING

    def document(self) -> Found:
        return {
            "n": int(self.counts.sum()),
            "epsilon": self.design.epsilon,
            "identified": self.design.found,
            "cheater_proportion": self.cheaters(),
            "no_effect": no_effect_tests(self.fit),
            "effects": self.effects(),
            "prevalence": self.prevalence(),
            "model_test": self.region.test,
            "specification_test": self.specification_test(),
        }

    def _interval(self, low: float, high: float) -> Found:
        if self.region.contradicted:
            return {"kind": "empty", "low": None, "high": None, "level": self.level}
        return {"kind": "likelihood", "low": low, "high": high, "level": self.level}

    def cheaters(self) -> Found:
        fit, honest = self.fit, self.region.honest
        found: Found = {"value": None, "raw": None, "standard_error": None, "interval": self._interval(1 - honest.high, 1 - honest.low)}
        if fit.honest is None:
            return found
        raw = 1 - float(fit.beta[fit.honest])
        error = math.sqrt(fit.covariance[fit.honest, fit.honest])
        found.update(raw=raw, standard_error=error)
        low, high = max(raw - self.z * error, 0.0), min(raw + self.z * error, 1.0)
        if self.limited and low <= high:
            found["interval"] = self._interval(min(1 - honest.high, low), max(1 - honest.low, high))
        if not self.region.contradicted:
            found["value"] = min(max(raw, 0.0), 1.0) if self.is_possible else 1 - honest.best
        return found

    def effects(self) -> list[Found]:
        """One for every contrast and number, contrast by contrast."""
        fit, design, z = self.fit, self.design, self.z
        found, p_values = list[Found](), dict[str, list[float]]()
        for arm, shadows in zip(design.treatments, self.region.effects, strict=True):
            for one, shadow in zip(self.measures, shadows, strict=True):
                row = fit.contrast(arm, one.weights)
                delta = one.spread * float(row @ fit.beta)
                error, none = (one.spread * math.sqrt(row @ which @ row) for which in (fit.covariance, fit.nulls[arm]))
                p = chi_square(1, (delta / max(error, none)) ** 2)
                p_values.setdefault(one.kind, []).append(p)
                value, of_value, wald = None if math.isnan(shadow.best) or not design.found else shadow.best, None, None
                if (raw := fit.ratio(row)) and (cut := fit.ratio(row, cut=True)):
                    value, of_value = raw[0] if self.is_possible else value, one.spread * cut[1]
                    ends = {end: one.spread * (raw[0] + sign * z * cut[1]) for end, sign in (("low", -1), ("high", 1))}
                    wald = None if self.region.contradicted else {"kind": "wald", **ends, "level": self.level}
                low, high = shadow.low, shadow.high
                if design.found and self.limited and (more := fit.without_limits(row, z)):
                    low, high = min(low, more[0]), max(high, more[1])
                found.append(
                    {
                        "treatment": design.arms[arm],
                        "control": design.arms[design.control],
                        "measure": one.kind,
                        "category": one.category,
                        "value": None if value is None or self.region.contradicted else one.spread * value,
                        "standard_error": of_value,
                        "interval": self._interval(one.spread * low, one.spread * high),
                        "wald": wald,
                        "p_value": p,
                        "honest_times_effect": {"value": delta, "standard_error": error, "p_value": p},
                    }
                )
        # Two answers have one test, not two.
        steps = {kind: 2 if kind == "category" and len(design.categories) == 2 else 1 for kind in p_values}
        adjusted = {kind: iter([p for p in holm(values[:: steps[kind]]) for _ in range(steps[kind])]) for kind, values in p_values.items()}
        return [one | {"adjusted_p_value": next(adjusted[str(one["measure"])])} for one in found]

    def prevalence(self) -> list[Found]:
        """One for every arm and number; where the design leaves them open, only a survey's intervals."""
        fit, design, found = self.fit, self.design, list[Found]()
        for arm, name in enumerate(design.arms if design.tells_prevalence or len(design.arms) == 1 else ()):
            unit = np.eye(len(design.categories))
            shares = [ratio[0] + one[0] for one in unit if (ratio := fit.ratio(fit.of_arm(arm, one)))] if design.tells_prevalence else []
            is_possible = bool(shares) and fit.beta[fit.honest] <= 1 and all(0 <= one <= 1 for one in shares)
            for one, shadow in zip(self.measures, self.region.prevalences[arm], strict=True):
                raw = fit.ratio(fit.of_arm(arm, one.weights)) if shares else None
                value = raw[0] + one.weights[0] if raw and is_possible else None if math.isnan(shadow.best) else shadow.best
                low, high = shadow.low, shadow.high
                row, plus = fit.of_arm(arm, one.weights), one.weights[0]
                if design.tells_prevalence and self.limited and (more := fit.without_limits(row, self.z, plus=plus, lowest=0.0)):
                    low, high = min(low, more[0]), max(high, more[1])
                is_told = design.tells_prevalence and not self.region.contradicted
                found.append(
                    {
                        "arm": name,
                        "measure": one.kind,
                        "category": one.category,
                        "value": one.low + one.spread * value if is_told and value is not None else None,
                        "standard_error": one.spread * raw[1] if is_told and raw else None,
                        "interval": self._interval(one.low + one.spread * low, one.low + one.spread * high),
                    }
                )
        return found

    def specification_test(self) -> Found | None:
        """Pearson's chi-squared of the model; None where it fits everything."""
        fit, people = self.fit, self.counts.sum(axis=-1, keepdims=True)
        df = self.counts[..., 1:].size - len(fit.beta)
        statistic = float(fit.weights @ ((self.counts / people).reshape(-1) - fit.shares) ** 2)
        return {"statistic": statistic, "df": df, "p_value": chi_square(df, statistic)} if df else None


def no_effect_tests(fit: Fit) -> list[Found]:
    """Chi-squared of no effect on any answer, by contrast: the smaller one of those with two covariances."""
    design, found = fit.design, list[tuple[int, float]]()
    df = len(design.categories) - 1
    for arm in design.treatments:
        rows = fit.contrast(arm, np.eye(df + 1)[1:])
        delta = rows @ fit.beta
        found.append((arm, min(float(delta @ np.linalg.solve(rows @ which @ rows.T, delta)) for which in (fit.covariance, fit.nulls[arm]))))
    p_values = [chi_square(df, statistic) for _, statistic in found]
    return [
        {"treatment": design.arms[arm], "control": design.arms[design.control], "statistic": statistic, "df": df, "p_value": p}
        | {"adjusted_p_value": adjusted}
        for (arm, statistic), p, adjusted in zip(found, p_values, holm(p_values), strict=True)
    ]


def missing_answers(counts: Array, absent: Array, design: Design) -> Found | None:
    """The test that answers are missing alike in every cell, and what they could change, with Lee's bounds."""
    if not absent.any():
        return None
    answered = counts.sum(axis=-1)
    cells = np.stack([answered, absent], axis=-1).reshape(-1, 2)
    expected = cells.sum(axis=1, keepdims=True) * cells.sum(axis=0) / cells.sum()
    statistic, df = float(((cells - expected) ** 2 / expected).sum()), len(cells) - 1
    truth = float((answered + absent).sum(axis=0) @ design.truth / cells.sum())
    there, gone, contrasts = answered.sum(axis=1), absent.sum(axis=1), list[Found]()
    rates = there / (there + gone)
    for arm, c in itertools.product(design.treatments, range(len(design.categories))):
        arms, said = [arm, design.control], counts.sum(axis=1)[:, c]
        share, rate, low, high = (one[arms] for one in (said / there, rates, said / (there + gone), (said + gone) / (there + gone)))
        excess, more = 1 - rate.min() / rate.max(), int(rate.argmax())
        trimmed = [(one, one) for one in share]
        trimmed[more] = max(0.0, (share[more] - excess) / (1 - excess)), min(1.0, share[more] / (1 - excess))
        contrasts.append(
            {
                "treatment": design.arms[arm],
                "control": design.arms[design.control],
                "category": design.categories[c],
                "answered": list(rate),
                "observed": (share[0] - share[1]) / truth,
                "lee": [(trimmed[0][0] - trimmed[1][1]) / truth, (trimmed[0][1] - trimmed[1][0]) / truth],
                "worst_case": [(low[0] - high[1]) / truth, (high[0] - low[1]) / truth],
            }
        )
    found: Found = {"missing": int(absent.sum()), "share": float(absent.sum() / cells.sum()), "statistic": statistic, "df": df}
    return found | {"p_value": chi_square(df, statistic), "contrasts": contrasts}


def recomputed(rows: list[dict[str, str]], question: Question, level: float) -> Found:
    """The numbers of one question. Those about people themselves, which no arm changes, are of all arms together."""
    design = Design(question["design"])
    # The last place of each cell counts the rows without an answer.
    table, answers = np.zeros((len(design.arms), len(design.names), len(design.categories) + 1)), [*design.categories, ""]
    for row in rows:
        table[design.arms.index(row["arm"]), design.names.index(row["subsample"]), answers.index(row[question["column"]])] += 1
    counts, absent = table[..., :-1], table[..., -1]
    if (counts.sum(axis=-1) == 0).any():
        return {"n": int(counts.sum())}
    if question.get("purpose") != "background":
        return Outcome(counts, design, level).document() | {"missing_answers": missing_answers(counts, absent, design)}
    if len(design.arms) == 1:
        return Outcome(counts, design, level).document()
    everybody = Design({**question["design"], "arms": [EVERYBODY], "control": EVERYBODY})
    found = Outcome(counts.sum(axis=0, keepdims=True), everybody, level).document()
    return found | {"no_effect": no_effect_tests(Fit(counts, design))}
