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
from typing import Protocol, TypeVar

import numpy as np

from candor.adjustment.covariates import FloatArray
from candor.errors import MethodError
from candor.resampling.blas_threads import single_threaded_blas
from candor.resampling.summaries import bootstrap_summary
from candor.results import BootstrapSummary, Effect

Progress = Callable[[int, int], bool | None]
AnyEffect = TypeVar("AnyEffect", bound=Effect)

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
    effects: Sequence[AnyEffect], replicates: BootstrapReplicates, *, study: ResampledStudy, level: float = 0.95, question: str = ""
) -> tuple[AnyEffect, ...]:
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
