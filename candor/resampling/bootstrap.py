"""Resample participants: in chunks that any number of workers can share, with the same result for all of them.

A study that can be resampled says how (`ResampledStudy`): `candor.resampling.resampled_counts` without covariates, at a cost that does not
depend on the number of participants, and `candor.resampling.resampled_people` with them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from candor.adjustment.covariates import FloatArray
from candor.errors import MethodError
from candor.resampling.blas_threads import single_threaded_blas
from candor.results import BootstrapSummary, Effect, Interval

Progress = Callable[[int, int], bool | None]

ONE_STANDARD_ERROR = float(ndtr(1.0))
"""A normal estimate lies below its mean plus one standard error with this probability, .8413: between the two lie 68.27 %."""

TOO_MANY = "They are too many for a bootstrap standard error."


class BootstrapCancelledError(MethodError):
    """The progress callback asked to stop."""

    def __init__(self, *, done: int, replicates: int) -> None:
        super().__init__(f"the bootstrap was cancelled after {done} of {replicates} replicates")


def name_of(method: str, question: str = "") -> str:
    """The name of a method's replicates, where one draw serves several questions.

    Examples
    --------
    >>> name_of("efficient"), name_of("doubly_robust", "attention")
    ('efficient', 'doubly_robust of attention')
    """
    return f"{method} of {question}" if question else method


class ResampledStudy(Protocol):
    """Data that know how to resample themselves. Where they are those of several questions, methods are named by `name_of`.

    Notes
    -----
    What is resampled is Δ̂/x̂ with x̂ as it comes, also above 1. The boundary rule, which takes x = 1 there, would put half of the resamples
    on the boundary whenever nobody cheats, and no bootstrap of such an estimator is consistent [1]_; Δ̂/x̂ is smooth there, as Fieller's
    interval is. So where the rule changed x̂, the intervals are those of Δ̂/x̂ and need not lie evenly around τ̂.

    References
    ----------
    .. [1] Andrews (2000), "Inconsistency of the bootstrap when a parameter is on the boundary of the parameter space", Econometrica 68(2).
    """

    @property
    def replicates_per_chunk(self) -> int:
        """How many replicates one chunk has: part of the definition of the random numbers, so never chosen by the number of workers."""

    @property
    def estimates(self) -> Mapping[str, FloatArray]:
        """The bootstrapped statistic at the data themselves, by method, each of shape (contrasts,)."""

    @property
    def accelerations(self) -> Mapping[str, FloatArray]:
        """Acceleration (see `acceleration`) of every contrast by method, each of shape (contrasts,)."""

    def replicate_effects(self, replicates: int, rng: np.random.Generator) -> Mapping[str, FloatArray]:
        """Draw resamples and return Δ̂/x̂ by method, each of shape (replicates, contrasts); NaN where x̂ is not above 0 or not defined."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BootstrapChunk:
    """Chunk `index` of the `chunks` of a run: `effects` by method, each of shape (replicates in the chunk, contrasts)."""

    index: int
    chunks: int
    seed: int
    effects: Mapping[str, FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BootstrapReplicates:
    """All replicates, in the order of the chunks: `effects` by method, each of shape (replicates, contrasts), and the seed of the run."""

    effects: Mapping[str, FloatArray]
    seed: int


def chunk_count(study: ResampledStudy, *, replicates: int) -> int:
    """Return how many chunks make up a run; their indices are 0 to this number − 1."""
    if replicates < 2:
        raise MethodError(f"a bootstrap needs at least 2 replicates, got {replicates}")
    return -(-replicates // study.replicates_per_chunk)


def bootstrap_chunk(study: ResampledStudy, *, replicates: int, seed: int, chunk_index: int) -> BootstrapChunk:
    """Compute one chunk of a run, on any machine and in any order.

    Parameters
    ----------
    study : ResampledStudy
    replicates : int
        Of the whole run.
    seed : int
        Of the whole run; the chunk's own stream is child `chunk_index` of ``SeedSequence(seed)``.
    chunk_index : int
        From 0 to ``chunk_count(study, replicates=replicates)`` − 1.

    Returns
    -------
    BootstrapChunk
    """
    chunks = chunk_count(study, replicates=replicates)
    if not 0 <= chunk_index < chunks:
        raise MethodError(f"chunk index must be from 0 to {chunks - 1}, got {chunk_index}")
    size = study.replicates_per_chunk
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chunk_index,)))
    effects = study.replicate_effects(min(size, replicates - chunk_index * size), rng)
    return BootstrapChunk(index=chunk_index, chunks=chunks, seed=seed, effects=effects)


def merge(chunks: Iterable[BootstrapChunk]) -> BootstrapReplicates:
    """Put the chunks of one run together, in whatever order they came.

    Raises
    ------
    MethodError
        A chunk is missing, came twice, or belongs to another run.
    """
    ordered = sorted(chunks, key=lambda chunk: chunk.index)
    found = [chunk.index for chunk in ordered]
    if not ordered or found != list(range(ordered[0].chunks)):
        raise MethodError(f"a run needs every chunk from 0 to the last once, got {found} of {ordered[0].chunks if ordered else 'none'}")
    if len({(chunk.chunks, chunk.seed) for chunk in ordered}) > 1:
        raise MethodError(f"chunks of different runs cannot be merged: their seeds are {sorted({chunk.seed for chunk in ordered})}")
    effects = {method: np.concatenate([chunk.effects[method] for chunk in ordered]) for method in ordered[0].effects}
    return BootstrapReplicates(effects=effects, seed=ordered[0].seed)


def bootstrap(
    study: ResampledStudy, *, replicates: int = 5000, seed: int, workers: int | None = None, progress: Progress | None = None
) -> BootstrapReplicates:
    """Resample a study on the cores of this machine.

    Parameters
    ----------
    study : ResampledStudy
        `candor.resampling.resampled_counts.ResampledCounts`, or `candor.resampling.resampled_people.ResampledPeople` with covariates.
    replicates : int
        Number of resamples, at least 2; the source of the design used 5,000.
    seed : int
        The same seed gives the same replicates for any number of workers.
    workers : int, optional
        Threads; by default one for every core that this process may use.
    progress : callable, optional
        Called in the calling thread with (replicates done, replicates) after each chunk. Returning False or raising stops the run.

    Returns
    -------
    BootstrapReplicates
        By method an ndarray of shape (replicates, contrasts); NaN where a resample has no estimate.

    Raises
    ------
    MethodError
        Fewer than 2 replicates.
    BootstrapCancelledError
        `progress` returned False.

    References
    ----------
    Efron, B. & Tibshirani, R. J. (1993). An Introduction to the Bootstrap. Chapman & Hall.

    Examples
    --------
    >>> from candor.designs.design import Design
    >>> from candor.resampling.resampled_counts import ResampledCounts
    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> counts = [[[130, 70], [110, 90]], [[90, 110], [70, 130]]]
    >>> study = ResampledCounts(counts, design=design)
    >>> run = bootstrap(study, replicates=200, seed=1)
    >>> {method: effects.shape for method, effects in run.effects.items()}
    {'difference_in_means': (200, 1), 'efficient': (200, 1)}
    """
    chunks = chunk_count(study, replicates=replicates)
    threads = min(chunks, _cores() if workers is None else workers)

    def compute(chunk_index: int) -> BootstrapChunk:
        return bootstrap_chunk(study, replicates=replicates, seed=seed, chunk_index=chunk_index)

    def report(finished: int) -> None:
        done = min(finished * study.replicates_per_chunk, replicates)
        if progress is not None and progress(done, replicates) is False:
            raise BootstrapCancelledError(done=done, replicates=replicates)

    results: list[BootstrapChunk] = []
    with single_threaded_blas():
        if threads <= 1:
            for chunk_index in range(chunks):
                results.append(compute(chunk_index))
                report(len(results))
        else:
            with ThreadPoolExecutor(threads) as pool:
                pending = [pool.submit(compute, chunk_index) for chunk_index in range(chunks)]
                try:
                    for future in as_completed(pending):
                        results.append(future.result())
                        report(len(results))
                finally:
                    pool.shutdown(wait=False, cancel_futures=True)
    return merge(results)


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def with_bootstrap(
    effects: Sequence[Effect], replicates: BootstrapReplicates, *, study: ResampledStudy, level: float = 0.95, question: str = ""
) -> tuple[Effect, ...]:
    """Return the effects with their bootstrap summaries, and a note where resamples failed.

    Parameters
    ----------
    effects : sequence of Effect
        The contrasts of every method in their usual order; those of other methods, or without a value, are returned as they are.
    replicates : BootstrapReplicates
        Of `study`.
    study : ResampledStudy
        What was resampled.
    level : float
        Nominal coverage of the percentile and the BCa interval.
    question : str
        Where one draw serves several questions, the one of these effects.

    Returns
    -------
    tuple of Effect

    Raises
    ------
    IndexError
        When a method has more contrasts in `effects` than were resampled.

    References
    ----------
    Efron, B. (1987). Better bootstrap confidence intervals. Journal of the American Statistical Association 82, 171–185.

    Examples
    --------
    >>> from candor.estimators.effects import estimate_outcome
    >>> from candor.designs.design import Design
    >>> from candor.resampling.resampled_counts import ResampledCounts
    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> counts = [[[130, 70], [110, 90]], [[90, 110], [70, 130]]]
    >>> study = ResampledCounts(counts, design=design)
    >>> run = bootstrap(study, replicates=200, seed=1)
    >>> (first, _) = with_bootstrap(estimate_outcome(counts, design=design).effects, run, study=study)
    >>> first.bootstrap.replicates, first.bootstrap.low < first.value < first.bootstrap.high
    (200, True)
    """
    estimates, accelerations = study.estimates, study.accelerations
    seen: Counter[str] = Counter()
    summarised = []
    for effect in effects:
        name = name_of(effect.method, question)
        if name in replicates.effects and effect.value is not None:
            contrast = seen[effect.method]
            summary = bootstrap_summary(
                replicates.effects[name][:, contrast],
                estimate=float(estimates[name][contrast]),
                acceleration=float(accelerations[name][contrast]),
                level=level,
                seed=replicates.seed,
            )
            effect = replace(effect, bootstrap=summary, notes=(*effect.notes, *_failures(summary)))
        seen[effect.method] += 1
        summarised.append(effect)
    return tuple(summarised)


def _failures(summary: BootstrapSummary) -> tuple[str, ...]:
    if not summary.failed:
        return ()
    note = (
        f"In {summary.failed} of {summary.replicates} resamples nobody was honest or a cell was empty; they widen the bootstrap intervals."
    )
    return (note,) if summary.standard_error is not None else (note, TOO_MANY)


def bootstrap_summary(effects: FloatArray, *, estimate: float, acceleration: float, level: float, seed: int) -> BootstrapSummary:
    """Summarise the replicates of one effect.

    Parameters
    ----------
    effects : ndarray of shape (replicates,)
        The estimate in every resample; NaN where there was none.
    estimate : float
        That of the data; NaN when there is none, and then there is no BCa interval.
    acceleration : float
        Skewness of the influence function over 6√n, see `acceleration`.
    level : float
        Nominal coverage.
    seed : int
        Of the run.

    Returns
    -------
    BootstrapSummary
        With the standard error, the percentile interval, and the BCa interval [1]_.

    Notes
    -----
    The standard error is half of the width of the interval that holds the central 68.27 % of the replicates (from the 15.87th to the
    84.13th percentile), which for a normal estimate is its standard deviation. The estimate is a ratio: its distribution over resamples has
    no variance, so a standard deviation of replicates would be that of the few in which x̂ came closest to zero, another for each seed.

    A failed replicate (nobody honest, or an empty cell) could have been anything: it counts as −∞ for the lower end and as +∞ for the
    upper one. So when more than (1 − level)/2 of them fail, the intervals are unbounded, and when more than 1 − level do, no standard
    error is given. Ends are cut to [−1, 1], outside of which no effect lies.

    References
    ----------
    .. [1] Efron (1987), "Better bootstrap confidence intervals", Journal of the American Statistical Association 82(397).

    Examples
    --------
    >>> summary = bootstrap_summary(np.linspace(0.1, 0.3, 101), estimate=0.2, acceleration=0.0, level=0.9, seed=1)
    >>> round(summary.low, 3), round(summary.high, 3), summary.bca.kind, round(summary.bca.low, 3)
    (0.11, 0.29, 'bca', 0.11)

    The values are spread evenly over a width of .2, of which the central 68.27 % are .1365:

    >>> round(summary.standard_error, 5)
    0.06827
    """
    found = np.sort(effects[~np.isnan(effects)])
    failed = len(effects) - len(found)
    tail = (1.0 - level) / 2.0
    low, high = _ends(found, failed, tail, 1.0 - tail)
    reliable = len(found) > 1 and failed <= (1.0 - level) * len(effects)
    return BootstrapSummary(
        standard_error=_standard_error(found, failed) if reliable else None,
        low=low,
        high=high,
        level=level,
        replicates=len(effects),
        failed=failed,
        seed=seed,
        bca=_bca(found, failed, estimate=estimate, acceleration=acceleration, level=level),
    )


def _standard_error(found: FloatArray, failed: int) -> float | None:
    """Half of the width of the central 68.27 %, with the failed replicates at both ends as for the intervals; None where it has no end."""
    last = len(found) + failed - 1
    low, high = (1.0 - ONE_STANDARD_ERROR) * last - failed, ONE_STANDARD_ERROR * last
    if low < 0.0 or high > len(found) - 1:
        return None
    ends = np.interp([low, high], np.arange(len(found)), found)
    return float(ends[1] - ends[0]) / 2.0


def _bca(found: FloatArray, failed: int, *, estimate: float, acceleration: float, level: float) -> Interval | None:
    """The bias-corrected and accelerated interval; None when every replicate lies on one side of the estimate."""
    if not len(found) or np.isnan(estimate):
        return None
    below = (np.searchsorted(found, estimate, "left") + np.searchsorted(found, estimate, "right")) / (2.0 * len(found))
    if not 0.0 < below < 1.0:
        return None
    bias = ndtri(below)
    shifted = bias + ndtri([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    if (1.0 - acceleration * shifted).min() <= 0.0:
        return None
    tails = ndtr(bias + shifted / (1.0 - acceleration * shifted))
    low, high = _ends(found, failed, float(tails[0]), float(tails[1]))
    return Interval(kind="bca", low=low, high=high, level=level)


def _ends(found: FloatArray, failed: int, lower: float, upper: float) -> tuple[float | None, float | None]:
    """Quantiles with the failed replicates at −∞ for the lower and at +∞ for the upper end; None where that is infinite."""
    last = len(found) + failed - 1
    return _at(found, lower * last - failed), _at(found, upper * last)


def _at(ordered: FloatArray, position: float) -> float | None:
    """The value at a fractional position by linear interpolation; None outside."""
    if position < 0.0 or position > len(ordered) - 1:
        return None
    return float(np.clip(np.interp(position, np.arange(len(ordered)), ordered), -1.0, 1.0))


def acceleration(influence: FloatArray, frequencies: FloatArray | NDArray[np.intp]) -> FloatArray:
    """Return the acceleration of the BCa interval: Σ f ψ³ / (6 (Σ f ψ²)^{3/2}), for each column of `influence`.

    Parameters
    ----------
    influence : ndarray of shape (m, contrasts)
        Influence function of every pattern.
    frequencies : ndarray of shape (m,)
        How many participants show the pattern.

    Examples
    --------
    >>> float(acceleration(np.array([[-1.0], [2.0]]), np.array([2, 1]))[0].round(4))
    0.068
    """
    squares = frequencies @ influence**2
    with np.errstate(invalid="ignore", divide="ignore"):
        skewness = (frequencies @ influence**3) / (6.0 * squares**1.5)
    return np.where(squares > 0.0, skewness, 0.0)
