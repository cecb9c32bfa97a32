"""Questions with three to six answers: how often intervals cover and tests alarm, and how often an analysis does without die and cheaters.

    python -m benchmarks.categories [--trials 1000]
    python -m benchmarks.categories --level [--trials 3000]    the test of no effect alone, where there is none
    python -m benchmarks.categories --covariates [--trials 400]    with a grade that explains the true answers, and one that the arm changed
    python -m benchmarks.categories --small [--trials 200]    what intervals of effects hold, and rule out, with few people in a cell

Prints the tables of benchmarks/categories.md.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit
from scipy.stats import chi2_contingency, norm

from candor.adjustment.adjusted_categories import adjusted_categories
from candor.categories.estimates import estimate_categories, no_effect_tests
from candor.categories.linear_model import category_model, maximum_likelihood_fit
from candor.categories.region import category_region
from candor.designs.design import Design


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A design with what is true of the people in it, and how many of them there are."""

    name: str
    design: Design
    prevalence: tuple[tuple[float, ...], ...]
    cheaters: tuple[float, ...]
    n: int
    honest: float = 0.85


def design(forced: tuple[tuple[int, ...], ...], sides: int, *, cheaters: object = "any") -> Design:
    names = tuple(f"answer {c + 1}" for c in range(len(forced[0])))
    subsamples = {str(s + 1): {name: f"{faces}/{sides}" for name, faces in zip(names, rule, strict=True)} for s, rule in enumerate(forced)}
    return Design.of(
        arms=("control", "treatment"), control="control", categories=names, ordered=True, subsamples=subsamples, cheater_model=cheaters
    )


def settings() -> list[Setting]:
    three, first = ((0.6, 0.3, 0.1), (0.4, 0.35, 0.25)), (1.0, 0.0, 0.0)
    none = (three[0], three[0])
    mirrored, three_subsamples = ((1, 1, 3), (3, 1, 1)), ((1, 1, 3), (3, 1, 1), (1, 2, 1))
    five = ((0.5, 0.2, 0.15, 0.1, 0.05), (0.35, 0.25, 0.15, 0.15, 0.1))
    first_of_five = {"always": "answer 1"}
    found = []
    for n in (600, 2000, 6000):
        found += [
            Setting(name="3, mirrored d8, any", design=design(mirrored, 8), prevalence=three, cheaters=(0.5, 0.3, 0.2), n=n),
            Setting(name="3, mirrored d8, any, no effect", design=design(mirrored, 8), prevalence=none, cheaters=(0.5, 0.3, 0.2), n=n),
            Setting(
                name="3, mirrored d8, always first",
                design=design(mirrored, 8, cheaters={"always": "answer 1"}),
                prevalence=three,
                cheaters=first,
                n=n,
            ),
            Setting(name="3, three dice d8, any", design=design(three_subsamples, 8), prevalence=three, cheaters=(0.5, 0.3, 0.2), n=n),
            Setting(
                name="5, mirrored d12, always first",
                design=design(((1, 1, 1, 1, 3), (3, 1, 1, 1, 1)), 12, cheaters=first_of_five),
                prevalence=five,
                cheaters=(1.0, 0.0, 0.0, 0.0, 0.0),
                n=n,
            ),
            Setting(
                name="5, mirrored d12, no effect",
                design=design(((1, 1, 1, 1, 3), (3, 1, 1, 1, 1)), 12, cheaters=first_of_five),
                prevalence=(five[0], five[0]),
                cheaters=(1.0, 0.0, 0.0, 0.0, 0.0),
                n=n,
            ),
        ]
    six = design(((5, 1, 1, 1, 1, 1), (1, 1, 1, 1, 1, 5)), 20, cheaters={"always": "answer 1"})
    first, last = np.eye(6)[[0, 5]].tolist()
    found += [
        Setting(name="6, mirrored d20, first against last", design=six, prevalence=(tuple(first), tuple(last)), cheaters=tuple(first), n=n)
        for n in (600, 2000)
    ]
    return found


def shares(setting: Setting) -> np.ndarray:
    """P(answer | arm, subsample), shape (2, S, C)."""
    one, x = setting.design, setting.honest
    honest = one.truth[None, :, None] * np.array(setting.prevalence)[:, None] + one.forced_answers
    return x * honest + (1 - x) * np.array(setting.cheaters)


def run(setting: Setting, *, trials: int, seed: int) -> dict[str, str]:
    rng, one = np.random.default_rng(seed), setting.design
    true = np.diff(np.array(setting.prevalence), axis=0)[0]
    scores = np.arange(len(true))
    truth = {("category", name): true[c] for c, name in enumerate(one.categories)}
    truth |= {("at_least", name): true[c:].sum() for c, name in enumerate(one.categories) if c}
    truth[("mean_score", None)] = float(true @ scores)
    hits: dict[str, list[bool]] = defaultdict(list)
    cells = one.shape[0] * one.shape[1]
    for _ in range(trials):
        sizes = np.bincount(rng.integers(0, cells, setting.n), minlength=cells).reshape(one.shape)
        counts = rng.multinomial(sizes, shares(setting))
        found = estimate_categories(counts, design=one)
        hits["cheaters"].append(found.cheater_proportion.interval.contains(1 - setting.honest))
        hits["test"].append(found.no_effect[0].p_value < 0.05)
        for effect in found.effects:
            value = truth[effect.measure, effect.category]
            hits[effect.measure].append(effect.interval.contains(value))
            if effect.wald is not None:
                hits["wald " + effect.measure].append(effect.wald.contains(value))
        for share in found.prevalence:
            if share.measure == "category":
                arm = one.arms.index(share.arm)
                hits["prevalence"].append(share.interval.contains(setting.prevalence[arm][one.categories.index(share.category)]))
        by_arm = counts.sum(axis=1)
        naive = by_arm / by_arm.sum(axis=1, keepdims=True)
        for c, value in enumerate(true):
            difference = naive[1, c] - naive[0, c]
            error = np.sqrt((naive[:, c] * (1 - naive[:, c]) / by_arm.sum(axis=1)).sum())
            hits["naive category"].append(abs(difference - value) <= 1.96 * error)
        hits["naive test"].append(chi2_contingency(by_arm)[1] < 0.05)
    return {name: f"{np.mean(those):.3f}" for name, those in hits.items()}


COLUMNS = (
    "cheaters",
    "prevalence",
    "category",
    "wald category",
    "at_least",
    "mean_score",
    "wald mean_score",
    "test",
    "naive category",
    "naive test",
)


def level(*, trials: int) -> None:
    """How often the test of no effect on any category finds one where there is none."""
    for base in [one for one in settings() if "no effect" in one.name][:2]:
        for n in (200, 600, 2000):
            setting, rng, model = replace(base, n=n), np.random.default_rng(n), category_model(base.design)
            hits = []
            for _ in range(trials):
                sizes = np.maximum(np.bincount(rng.integers(0, 4, n), minlength=4), 1).reshape(2, 2)
                counts = rng.multinomial(sizes, shares(setting)).astype(float)
                hits.append(no_effect_tests(counts, maximum_likelihood_fit(counts, model), setting.design)[0].p_value < 0.05)
            print(f"| {setting.name} | {n} | {np.mean(hits):.3f} |", flush=True)


def cumulative(grade: np.ndarray, arm: np.ndarray, *, categories: int, effect: float) -> np.ndarray:
    """P(true answer above each cut | grade, arm) of people, shape (n, C − 1)."""
    return expit(1.6 * grade[:, None] + effect * arm[:, None] - np.linspace(-0.5, 1.0, categories - 1))


def with_grades(setting: Setting, *, effect: float, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Answers, arm, subsample and grade of n people; the setting's prevalences give way to those by grade."""
    n, one, size = setting.n, setting.design, len(setting.cheaters)
    arm, subsample, grade = rng.integers(0, 2, n), rng.integers(0, one.shape[1], n), rng.normal(size=n)
    true = (rng.random(n)[:, None] < cumulative(grade, arm, categories=size, effect=effect)).sum(axis=1)
    dice = np.cumsum(np.column_stack([one.truth[subsample], one.forced_answers[subsample]]), axis=1)
    face = (rng.random(n)[:, None] > dice[:, :-1]).sum(axis=1)
    said = np.where(face == 0, true, face - 1)
    cheats = rng.random(n) > setting.honest
    return np.where(cheats, rng.choice(size, n, p=setting.cheaters), said), arm, subsample, grade


def covariates(*, trials: int) -> None:
    """Coverage of the adjusted intervals, the level of their test, and what is gained; beside it a covariate that leaks."""
    print("| setting | n | effect | interval | wald | test | SE, against none | spread of estimates, against SE | leak: interval |")
    print("|---|---|---|---|---|---|---|---|---|")
    grades = norm.ppf((np.arange(100_000) + 0.5) / 100_000)
    for base in settings()[:6]:
        if "no effect" in base.name or "three dice" in base.name:
            continue
        for n, effect in ((600, 0.8), (600, 0.0), (2000, 0.8), (2000, 0.0)):
            setting, rng, one = replace(base, n=n), np.random.default_rng(n + round(10 * effect)), base.design
            size = len(base.cheaters)
            above = [cumulative(grades, np.full(len(grades), arm), categories=size, effect=effect).mean(axis=0) for arm in (0, 1)]
            truth = np.diff([-np.diff(np.concatenate([[1.0], those, [0.0]])) for those in above], axis=0)[0]
            hits, errors, ratios, off = defaultdict(list), [], [], []
            for _ in range(trials):
                said, arm, subsample, grade = with_grades(setting, effect=effect, rng=rng)
                counts = np.bincount((arm * one.shape[1] + subsample) * size + said, minlength=one.shape[0] * one.shape[1] * size)
                plain = maximum_likelihood_fit(counts.reshape(*one.shape, size).astype(float), category_model(one))
                found = adjusted_categories(said, arm, subsample, {"grade": grade}, design=one)
                leaked = adjusted_categories(said, arm, subsample, {"grade": grade, "later": arm + rng.normal(size=n) * 0.3}, design=one)
                hits["test"].append(found.no_effect[0].p_value < 0.05)
                for place, (effect_on, leaking) in enumerate(zip(found.effects[:size], leaked.effects[:size], strict=True)):
                    hits["interval"].append(effect_on.interval.contains(truth[place]))
                    hits["wald"].append(effect_on.wald is not None and effect_on.wald.contains(truth[place]))
                    hits["leak"].append(leaking.interval.contains(truth[place]))
                    delta, row = effect_on.honest_times_effect, np.eye(size)[place]
                    contrast = plain.model.of_arm(1, row) - plain.model.of_arm(0, row)
                    ratios.append(delta.standard_error / np.sqrt(contrast @ plain.covariance @ contrast))
                    errors.append(delta.standard_error**2)
                    off.append((delta.value - setting.honest * truth[place]) ** 2)
            numbers = [*(f"{np.mean(hits[name]):.3f}" for name in ("interval", "wald", "test")), f"{np.mean(ratios):.3f}"]
            numbers += [f"{np.sqrt(np.mean(off) / np.mean(errors)):.3f}", f"{np.mean(hits['leak']):.3f}"]
            print(f"| {base.name} | {n} | {effect:g} |", " | ".join(numbers), "|", flush=True)


FACES = {2: (1, 6), 3: (2, 8), 4: (2, 10), 6: (4, 20)}
"""By number of answers: how many faces more than one the first or the last answer has, and how many there are in all."""


def few_people(rng: np.random.Generator) -> list[Setting]:
    """Corners and middles of all shares with fifty people in a cell, and twelve settings by chance; n counts the people of one cell."""

    def one(name: str, prevalence: np.ndarray, *, n: int, cheaters: float) -> Setting:
        arms, size = prevalence.shape
        more, sides = FACES[size]
        rules = 1 + more * np.eye(size, dtype=int)[[0, -1]]
        of_arms = replace(
            design(tuple(map(tuple, rules.tolist())), sides),
            arms=tuple(f"arm {a + 1}" for a in range(arms)),
            control="arm 1",
            arm_probabilities=(),
            scores=(),
        )
        return Setting(
            name=f"{size} answers, {arms} arms, {name}",
            design=of_arms,
            prevalence=tuple(map(tuple, prevalence)),
            cheaters=tuple(np.full(size, 1 / size)),
            n=n,
            honest=1 - cheaters,
        )

    found = []
    for arms, size in ((3, 2), (6, 2), (2, 3), (3, 3), (2, 6)):
        first, last, even = *np.eye(size)[[0, -1]], np.full(size, 1 / size)
        for name, control, others in (
            ("all", even, (first + even) / 2),
            ("first, last", first, last),
            ("first, halves", first, (first + last) / 2),
        ):
            found.append(one(name, np.array([control] + [others] * (arms - 1)), n=50, cheaters=0.2))
    for _ in range(12):
        size, arms = int(rng.choice([2, 3, 4, 6])), int(rng.choice([3, 6]))
        drawn = rng.dirichlet(np.full(size, 0.4), size=arms)
        corners = rng.random(arms) < 0.4
        drawn[corners] = np.eye(size)[rng.integers(0, size, corners.sum())]
        found.append(one("drawn", drawn, n=int(rng.integers(30, 201)), cheaters=float(rng.uniform(0, 0.4))))
    return found


def small(*, trials: int) -> None:
    """How often intervals of effects hold the truth and rule nothing out: as they are shown, and of the region alone."""
    rng = np.random.default_rng(2026)
    print(
        "| setting | people a cell | cheaters | worst effect | all effects | nothing ruled out | region: worst | all | nothing ruled out |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for setting in few_people(rng):
        prevalence, means = np.array(setting.prevalence), shares(setting)
        truth, ends = (prevalence[1:] - prevalence[0]).ravel(), []
        for _ in range(trials):
            counts = rng.multinomial(setting.n, means)
            shown = [effect.interval for effect in estimate_categories(counts, design=setting.design).effects]
            alone = [pair for row in category_region(counts.astype(float), setting.design).effects for pair in row]
            told = shown[0].kind != "empty"  # An interval from 2 on holds nothing.
            ends.append([[(one.low, one.high) if told else (2, 2) for one in shown], alone if told else [(2, 2)] * len(alone)])
        low, high = np.moveaxis(np.array(ends, dtype=float), -1, 0)
        covered, open_ones = ((low <= truth) & (truth <= high)).mean(axis=0), (high - low == 2).mean(axis=(0, 2))
        numbers = [f"{one:.3f}" for kind in (0, 1) for one in (covered[kind].min(), covered[kind].mean(), open_ones[kind])]
        print(f"| {setting.name} | {setting.n} | {1 - setting.honest:.2f} |", " | ".join(numbers), "|", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--level", action="store_true")
    parser.add_argument("--covariates", action="store_true")
    parser.add_argument("--small", action="store_true")
    asked = parser.parse_args()
    if asked.small:
        small(trials=asked.trials)
        return
    if asked.covariates:
        covariates(trials=asked.trials)
        return
    if asked.level:
        level(trials=asked.trials)
        return
    print("| setting | n |", " | ".join(COLUMNS), "|")
    print("|---|---|" + "---|" * len(COLUMNS))
    for seed, setting in enumerate(settings()):
        found = run(setting, trials=asked.trials, seed=seed)
        print(f"| {setting.name} | {setting.n} |", " | ".join(found.get(name, "—") for name in COLUMNS), "|", flush=True)


if __name__ == "__main__":
    main()
