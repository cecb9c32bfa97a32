"""The bootstrap of a run, chunk by chunk, by as many workers as there are: the same seed and data give the same numbers.

A run keeps what its chunks resample: counts, and the patterns of `candor.resampling.resampled_people`. Background answers are not among
them as they were given, but patterns follow from them: they are deleted with the end of the run, as answers are.
"""

import io
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from django.utils import timezone
from numpy.typing import NDArray

from analysis.models import Chunk, ChunkFamily, Run
from analysis.runs.full_results import REPLICATES, Resampled
from analysis.runs.low_priority import at_low_priority
from analysis.stored_results import QuestionEstimate, Results, read_results
from candor.designs.design import Design
from candor.resampling.bootstrap import BootstrapChunk, bootstrap_chunk, chunk_count, merge, with_bootstrap
from candor.resampling.resampled_counts import ResampledCounts
from candor.resampling.resampled_people import ResampledPeople


def chunks_of(run: Run, studies: Resampled) -> list[Chunk]:
    """All chunks of a run's bootstrap, due at once."""
    due_at = timezone.now()
    return [
        Chunk(run=run, family=family, question=question, index=index, due_at=due_at)
        for (family, question), study in studies.items()
        for index in range(chunk_count(study, replicates=REPLICATES))
    ]


def stored(studies: Resampled) -> bytes:
    """The studies that the chunks resample, as a run keeps them."""
    return _packed(
        {f"{family}/{question}/{name}": values for (family, question), study in studies.items() for name, values in study.arrays().items()},
        np.savez_compressed,
    )


def effects_of(chunk: Chunk) -> bytes:
    """The replicates of one chunk, as stored."""
    run = Run.objects.get(pk=chunk.run_id)
    study = _resampled(run, chunk.family, chunk.question)
    found = at_low_priority(bootstrap_chunk, study, replicates=REPLICATES, seed=run.seed or 0, chunk_index=chunk.index)
    return _packed(found.effects)


def merged(run: Run) -> Results:
    """The results of a run, whose chunks are all done."""
    begun = read_results(run.results)
    if begun is None:
        raise ValueError("Expected the results with which the run began.")
    chunks: dict[tuple[str, str], list[Chunk]] = defaultdict(list)
    for chunk in run.chunks.all():
        chunks[chunk.family, chunk.question].append(chunk)
    outcomes = dict(begun.outcomes)
    for (family, question), parts in chunks.items():
        study = _resampled(run, family, question)
        replicates = merge(_unpacked(one, study, seed=run.seed or 0) for one in parts)
        for name in [question] if question else begun.outcomes:
            if isinstance(one := outcomes[name], QuestionEstimate):
                of = "" if question else name
                outcomes[name] = replace(one, effects=with_bootstrap(one.effects, replicates, study=study, question=of))
    return replace(begun, outcomes=outcomes)


def _resampled(run: Run, family: str, question: str) -> ResampledCounts | ResampledPeople:
    design, begins = Design.from_document((run.results or {})["design"]), f"{family}/{question}/"
    with np.load(io.BytesIO(bytes(run.data or b"")), allow_pickle=False) as kept:
        arrays = {name.removeprefix(begins): kept[name] for name in kept.files if name.startswith(begins)}
    if family == ChunkFamily.COUNTS:
        return ResampledCounts(arrays["counts"], design=design)
    return ResampledPeople.from_arrays(arrays, designs=dict.fromkeys(arrays["questions"].tolist(), design))


def _packed(arrays: Mapping[str, NDArray[np.generic]], save: Callable[..., None] = np.savez) -> bytes:
    buffer = io.BytesIO()
    save(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _unpacked(chunk: Chunk, study: ResampledCounts | ResampledPeople, *, seed: int) -> BootstrapChunk:
    chunks = chunk_count(study, replicates=REPLICATES)
    with np.load(io.BytesIO(bytes(chunk.effects or b"")), allow_pickle=False) as effects:
        return BootstrapChunk(index=chunk.index, chunks=chunks, seed=seed, effects={name: effects[name] for name in effects.files})
