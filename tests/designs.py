"""Designs, exact cell probabilities and tables drawn from them: what tests of the estimators share."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from candor.designs.design import Design

FloatArray = npt.NDArray[np.float64]
MIRRORED = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
SYMMETRIC = {"1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/3", "forced_yes": "1/3"}}
THREE = {**MIRRORED, "3": {"forced_no": "1/6", "forced_yes": "1/6"}}
ARMS = ("control", "treatment")


def _design(subsamples: Mapping[str, Mapping[str, str]], cheater_model: object, arms: Sequence[str] = ARMS) -> Design:
    return Design.of(arms=arms, control="control", subsamples=subsamples, cheater_model=cheater_model)


DESIGNS = {
    "mirrored": _design(MIRRORED, "any"),
    "mirrored, cheaters say no": _design(MIRRORED, "always_no"),
    "symmetric, cheaters say no": _design(SYMMETRIC, "always_no"),
    "symmetric, cheaters say yes": _design(SYMMETRIC, "always_yes"),
    "symmetric, stated rate": _design(SYMMETRIC, {"yes_rate": "1/4"}),
    "symmetric, unknown": _design(SYMMETRIC, "unknown"),
    "three subsamples": _design(THREE, "any"),
    "three subsamples, cheaters say no": _design(THREE, "always_no"),
    "three arms": _design(MIRRORED, "any", ("treatment", "control", "other")),
    "three arms, three subsamples": _design(THREE, "unknown", ("control", "treatment", "other")),
}


@pytest.fixture(params=list(DESIGNS))
def design(request: pytest.FixtureRequest) -> Design:
    """Every kind of design, one after the other."""
    return DESIGNS[request.param]


@pytest.fixture(params=[name for name, design in DESIGNS.items() if design.identification.effect])
def identified_design(request: pytest.FixtureRequest) -> Design:
    """Every design that identifies the effect."""
    return DESIGNS[request.param]


@pytest.fixture
def mirrored() -> Design:
    """The platform's default."""
    return DESIGNS["mirrored"]


@pytest.fixture
def symmetric() -> Design:
    """Two subsamples asked for the truth 4 and 2 times of six; cheaters are assumed to say no."""
    return DESIGNS["symmetric, cheaters say no"]


@pytest.fixture
def symmetric_unknown() -> Design:
    """The same with the cheaters' yes rate unknown, so that the effect is not identified."""
    return DESIGNS["symmetric, unknown"]


@pytest.fixture
def three_subsamples() -> Design:
    """Three subsamples whose (truth, forced yes) points are not on one line."""
    return DESIGNS["three subsamples"]


def _cells(design: Design, *, honest: float, prevalence: Sequence[float], cheater_yes_rate: float) -> FloatArray:
    mean = honest * (design.truth * np.array(prevalence)[:, None] + design.forced_yes) + (1 - honest) * cheater_yes_rate
    share = design.arm_shares[:, None] * design.subsample_shares
    return np.stack([share * (1 - mean), share * mean], axis=-1)


@pytest.fixture
def cell_probabilities() -> Callable[..., FloatArray]:
    """P(arm, subsample, report) of a model with equal cheater shares, shape (K, S, 2): the statistics page's m(a,s)."""
    return _cells


@pytest.fixture
def truth_about(design: Design) -> tuple[float, list[float], float]:
    """An honest share, prevalences and a cheater yes rate that fit the parametrised design."""
    known = design.cheater_model.yes_rate
    return 0.85, [0.4, 0.6, 0.5][: len(design.arms)], 0.7 if known is None else float(known)


Cells = Callable[..., FloatArray]


def means_of(design: Design, x: float, p: tuple[float, ...], q: float) -> FloatArray:
    """P(yes) in every arm and subsample, shape (K, S)."""
    return x * (design.truth * np.array(p)[:, None] + design.forced_yes) + (1 - x) * q


def some_tables(design: Design, cells: Cells, *, n: int, trials: int, seed: int = 1) -> FloatArray:
    known = design.cheater_model.yes_rate
    p = cells(design, honest=0.8, prevalence=[0.35, 0.6, 0.5][: len(design.arms)], cheater_yes_rate=0.6 if known is None else float(known))
    return np.random.default_rng(seed).multinomial(n, p.ravel(), size=trials).reshape(-1, *p.shape).astype(float)


def simulated(
    rng: np.random.Generator, design: Design, *, people: int, true: Sequence[Sequence[float]], honest: float, cheaters: Sequence[float]
) -> FloatArray:
    """Named answers by arm and subsample; `true` are the shares of honest people by arm, `people` how many in each cell."""
    shares = honest * (design.truth[:, None] * np.asarray(true)[:, None] + design.forced_answers) + (1 - honest) * np.asarray(cheaters)
    return rng.multinomial(people, shares).astype(float)
