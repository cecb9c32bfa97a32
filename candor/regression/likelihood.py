"""The likelihood of reported answers in a regression on the true one, with cheaters: gradient, curvature and the search for its top."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dposv
from scipy.special import expit

from candor.errors import MethodError

FloatArray = npt.NDArray[np.float64]
ITERATIONS, HALVINGS = 200, 40
SLACK = 0.5
"""A search may leave the possible shares so far, and come back."""
SETTLED, SHORT = 1e-8, 1e-2
"""A search ends where a step gains no more than the first. It takes that step, too, if nothing changes by more than the second."""
LONGEST = 2.0
"""A step changes no log odds by more, for a column of standard deviation 1."""
FARTHEST = 30.0
"""A log odds beyond this, for a column of standard deviation 1, runs away to infinity."""
NO_MAXIMUM = (
    "the likelihood has no top: the coefficient of {label} grows without end, because some group is estimated to say yes never or always. "
    "Use fewer covariates, or join their answers"
)
NOT_SETTLED = "the search for the top of the likelihood did not settle: too few answers for so many coefficients"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Face:
    """A part of the possible (x, C), C = (1 − x)q: x = x₀ + a·φ and C = C₀ + b·φ for free φ, or none.

    Attributes
    ----------
    x, c : float
        x₀ and C₀.
    slopes : ndarray of shape (2, d)
        Rows a and b.
    """

    x: float
    c: float
    slopes: FloatArray

    def at(self, phi: FloatArray) -> tuple[float, float]:
        """x and C."""
        x, c = np.array([self.x, self.c]) + self.slopes @ phi
        return float(x), float(c)

    def nearest(self, x: float, c: float) -> FloatArray:
        """The φ whose (x, C) is nearest."""
        return (
            np.asarray(np.linalg.lstsq(self.slopes, np.array([x - self.x, c - self.c]), rcond=None)[0]) if self.slopes.size else np.zeros(0)
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Data:
    """Answers with their columns and their dice.

    ``reported``, ``truth``, ``forced_yes`` have shape (n,), ``columns`` (n, p). ``people``, of shape (n,), says how many people a row
    stands for. ``logistic`` says which prevalence η = zβ means: expit(η), or η itself.
    """

    reported: FloatArray
    truth: FloatArray
    forced_yes: FloatArray
    columns: FloatArray
    people: FloatArray
    labels: tuple[str, ...]
    logistic: bool

    def joined(self) -> Data:
        """People who are alike in everything as one row: the likelihood is the same, and a study without ages has a few rows.

        Each column lies in one piece of memory, through which the search runs faster.
        """
        alike = np.column_stack([self.reported, self.truth, self.forced_yes, self.columns])
        rows, of = np.unique(alike, axis=0, return_inverse=True)
        reported, truth, forced_yes = rows[:, :3].T.copy()
        people = np.bincount(of.ravel(), weights=self.people).astype(float)
        return replace(self, reported=reported, truth=truth, forced_yes=forced_yes, columns=rows.T[3:].copy().T, people=people)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """The top of the likelihood on one face, or with one coefficient held."""

    beta: FloatArray
    x: float
    c: float
    log_likelihood: float


def prevalence(eta: FloatArray, *, logistic: bool) -> FloatArray:
    """π(η)."""
    return np.asarray(expit(eta)) if logistic else eta


def _slopes(p: FloatArray, *, logistic: bool) -> tuple[FloatArray, FloatArray]:
    """The first two derivatives of π where it is p."""
    if not logistic:
        return np.ones_like(p), np.zeros_like(p)
    slope = p * (1 - p)
    return slope, slope * (1 - 2 * p)


def means_of(data: Data, beta: FloatArray, x: float, c: float) -> FloatArray:
    """P(reported yes) of every row."""
    return x * (data.truth * prevalence(data.columns @ beta, logistic=data.logistic) + data.forced_yes) + c


def log_likelihood(data: Data, beta: FloatArray, x: float, c: float) -> float:
    """Σ ln P(reported) = Σ ln |m + y − 1|; −∞ where the parameters give no probabilities."""
    mean = means_of(data, beta, x, c)
    if not (mean.min() > 0 and mean.max() < 1):
        return -np.inf
    return float(data.people @ np.log(np.abs(mean + (data.reported - 1))))


def derivatives(data: Data, beta: FloatArray, x: float, c: float) -> tuple[FloatArray, FloatArray]:
    """Gradient and Hessian with respect to (β, x, C).

    Notes
    -----
    With m = x(tπ + f1) + C: ∂m/∂β = txπ′z, ∂m/∂x = tπ + f1, ∂m/∂C = 1, ∂²m/∂β∂βᵀ = txπ″zzᵀ, ∂²m/∂β∂x = tπ′z; the score is Σ r·∂m with
    r = 1/(m + y − 1), the Hessian Σ[r·∂²m − r²·∂m∂mᵀ], because y is 0 or 1. A row counts as often as it has people.
    """
    z, t = data.columns.T, data.truth
    mean, slope, bend, of_mean = _means_with_gradients(data, beta, x, c)
    residual = 1 / (mean + (data.reported - 1))
    score = data.people * residual
    hessian = -(of_mean * (score * residual)) @ of_mean.T
    width = len(z)
    hessian[:width, :width] += (z * (score * t * x * bend)) @ z.T
    mixed = z @ (score * t * slope)
    hessian[:width, width] += mixed
    hessian[width, :width] += mixed
    return of_mean @ score, hessian


def information(data: Data, beta: FloatArray, x: float, c: float) -> FloatArray:
    """Fisher's, with respect to (β, x, C): Σ ∂m∂mᵀ/(m(1 − m)), in the words of `derivatives`."""
    mean, _, _, of_mean = _means_with_gradients(data, beta, x, c)
    return np.asarray((of_mean * (data.people / (mean * (1 - mean)))) @ of_mean.T)


def _means_with_gradients(data: Data, beta: FloatArray, x: float, c: float) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """m, π′, π″, and ∂m with a row for each of (β, x, C)."""
    p = prevalence(data.columns @ beta, logistic=data.logistic)
    slope, bend = _slopes(p, logistic=data.logistic)
    of_mean = np.ones((len(beta) + 2, len(p)))
    np.multiply(data.columns.T, data.truth * x * slope, out=of_mean[:-2])
    of_mean[-2] = data.truth * p + data.forced_yes
    return x * of_mean[-2] + c, slope, bend, of_mean


def climb(data: Data, face: Face, *, start: Fit, held: tuple[int, float] | None = None, profile: bool = False) -> Fit | None:
    """The top of the likelihood of log odds on a face, by Newton steps that are halved until they rise; one coefficient may be held.

    Where the likelihood is not curved downward, a step is that of Fisher scoring. A profile asks for the height that a search comes near to
    where a coefficient grows without end.

    None when the way leads beyond what x and C can be: then the top of all lies on a narrower face.

    Raises
    ------
    MethodError
        When a coefficient grows without end, or the search does not settle.
    """
    beta = start.beta.copy()
    if held is not None:
        beta[held[0]] = held[1]
    phi = face.nearest(start.x, start.c)
    width, free = len(beta), [index for index in range(len(beta)) if held is None or index != held[0]]
    chain = np.zeros((width + 2, len(free) + len(phi)))
    chain[free, range(len(free))] = 1.0
    chain[width:, len(free) :] = face.slopes
    x, c = face.at(phi)
    height = log_likelihood(data, beta, x, c)
    if height == -np.inf:
        beta[free] = 0.0
        height = log_likelihood(data, beta, x, c)
    for _ in range(ITERATIONS):
        gradient, hessian = derivatives(data, beta, x, c)
        slope = chain.T @ gradient
        step = _solved(-chain.T @ hessian @ chain, slope)
        if step is None:
            step = _solved(chain.T @ information(data, beta, x, c) @ chain, slope)
        if step is None:
            step = slope / max(float(np.abs(slope).max()), 1.0)
        gain = float(slope @ step)
        if gain < SETTLED:
            return _after_the_last_step(data, Fit(beta=beta, x=x, c=c, log_likelihood=height), chain @ step)
        length = min(1.0, LONGEST / max(float(np.abs(step[: len(free)]).max(initial=0.0)), LONGEST)) if data.logistic else 1.0
        for _ in range(HALVINGS):
            moved = length * (chain @ step)
            new_beta, new_x, new_c = beta + moved[:width], x + float(moved[-2]), c + float(moved[-1])
            higher = log_likelihood(data, new_beta, new_x, new_c)
            if higher >= height + 1e-4 * length * gain:
                break
            length /= 2
        else:
            if gain < 1e-4:
                return Fit(beta=beta, x=x, c=c, log_likelihood=height)
            raise MethodError(NOT_SETTLED)
        beta, x, c, height = new_beta, new_x, new_c, higher
        if not is_possible(x, c, slack=SLACK):
            return None
        if np.abs(beta[free]).max(initial=0.0) > FARTHEST:
            if not is_possible(x, c):
                return None
            if profile or held is not None:
                return Fit(beta=beta, x=x, c=c, log_likelihood=height)
            worst = max(free, key=lambda index: abs(beta[index]))
            raise MethodError(NO_MAXIMUM.format(label=data.labels[worst]))
    raise MethodError(NOT_SETTLED)


def _after_the_last_step(data: Data, fit: Fit, step: FloatArray) -> Fit:
    """The top to eight digits: Newton's steps square the error. A long step gains nothing but leads towards infinity."""
    beta, x, c = fit.beta + step[:-2], fit.x + float(step[-2]), fit.c + float(step[-1])
    higher = log_likelihood(data, beta, x, c)
    if np.abs(step).max() > SHORT or higher < fit.log_likelihood - SETTLED:
        return fit
    return Fit(beta=beta, x=x, c=c, log_likelihood=higher)


def _solved(curvature: FloatArray, slope: FloatArray) -> FloatArray | None:
    """The step to the top of a likelihood that is curved downward; None of another."""
    if not len(slope):
        return slope
    curvature.flat[:: len(slope) + 1] += 1e-10 * curvature.trace() / len(slope)
    _, step, failed = dposv(curvature, slope)
    return None if failed else np.asarray(step)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Possible:
    """The possible (x, C) as faces, from the widest to the narrowest, and the corners between which they lie."""

    faces: tuple[Face, ...]
    corners: tuple[tuple[float, float], ...]


Climbs = dict[tuple[Face, bytes, tuple[float, ...]], Fit | MethodError | None]
"""Ends of searches: by the face, the coefficients and, where the face leaves them free, the (x, C) of their beginning."""


def highest(
    data: Data,
    possible: Possible,
    *,
    start: Fit,
    held: tuple[int, float] | None = None,
    profile: bool = False,
    climbs: Climbs | None = None,
) -> Fit:
    """The top over all possible (x, C). `climbs` are those from other beginnings, with the same coefficient held.

    Raises
    ------
    MethodError
        When the likelihood has no top, or the search does not settle.

    Notes
    -----
    A top inside of the widest face is taken. If that lies beyond an edge, or a coefficient is held, the tops of the narrower faces are
    compared: with a held log odds one at an edge may be higher than one inside. The best must be a top of the whole: no direction towards a
    corner leads upward.
    """
    best: Fit | None = None
    inside: Fit | None = None
    problem: MethodError | None = None
    climbs = {} if climbs is None else climbs
    for face in possible.faces:
        beginning = (face, start.beta.tobytes(), (start.x, start.c) if face.slopes.size else ())
        if beginning not in climbs:
            try:
                climbs[beginning] = climb(data, face, start=start, held=held, profile=profile)
            except MethodError as error:
                climbs[beginning] = error
        found = climbs[beginning]
        if isinstance(found, MethodError):
            problem = problem or found
            continue
        if found is None or not is_possible(found.x, found.c):
            continue
        if best is None or found.log_likelihood > best.log_likelihood:
            best = found
        if face is possible.faces[0]:
            inside = replace(found, c=max(found.c, 0.0))
            if held is None:
                return inside
    if best is None:
        raise problem or MethodError("no share of honest people above 0 fits the answers: an assumption of the model fails")
    if inside and inside.log_likelihood >= best.log_likelihood:
        return inside
    gradient = derivatives(data, best.beta, best.x, best.c)[0][-2:]
    rising = max(float(gradient @ (np.array(corner) - (best.x, best.c))) for corner in possible.corners)
    if rising > 1e-2 and inside is None:
        raise problem or MethodError(NOT_SETTLED)
    if rising > 1e-2:  # from this edge the way leads up to another top inside
        with suppress(MethodError):
            found = climb(data, possible.faces[0], start=best, held=held, profile=profile)
            if found and is_possible(found.x, found.c) and found.log_likelihood > best.log_likelihood:
                best = found
    return replace(best, c=max(best.c, 0.0))


def is_possible(x: float, c: float, *, slack: float = 1e-9) -> bool:
    """Whether 0 < x ≤ 1 and 0 ≤ C ≤ 1 − x, up to rounding or the slack."""
    return 1e-6 < x <= 1 + slack and -slack <= c <= 1 - x + slack
