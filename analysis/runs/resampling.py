"""The bootstrap of a run, chunk by chunk, by as many workers as there are: the same seed and data give the same numbers."""

import io
from collections import defaultdict
from functools import lru_cache
from typing import Any

import numpy as np

from analysis.answers.datasets import People
from analysis.models import Chunk, Run
from analysis.runs.full_results import REPLICATES, QuestionAnalysis, outcome_results, question_analyses
from analysis.runs.low_priority import at_low_priority
from candor.resampling.blas_threads import single_threaded_blas
from candor.resampling.bootstrap import BootstrapChunk, chunk_count
from surveys.protocols import protocol_in_force


def effects_of(chunk: Chunk) -> bytes:
    """The replicates of one chunk, as stored."""
    seed = Run.objects.values_list("seed", flat=True).get(pk=chunk.run_id)
    with single_threaded_blas():
        analysis = _analyses(chunk.run_id, seed)[chunk.question]
        return _packed(at_low_priority(analysis.chunk, chunk.family, chunk.index, seed=seed or 0))


def merged(run: Run) -> dict[str, Any]:
    """The results of a run, whose chunks are all done."""
    analyses = _analyses(run.pk, run.seed)
    chunks: dict[str, dict[str, list[BootstrapChunk]]] = defaultdict(lambda: defaultdict(list))
    for chunk in run.chunks.all():
        chunks[chunk.question][chunk.family].append(_unpacked(chunk, analyses[chunk.question], seed=run.seed or 0))
    results: dict[str, Any] = run.results or {}
    outcomes = {question: outcome_results(analyses[question], by_family) for question, by_family in chunks.items()}
    return results | {"outcomes": results["outcomes"] | outcomes}


@lru_cache(maxsize=2)
def _analyses(run_id: int, seed: int | None) -> dict[str, QuestionAnalysis]:
    """The run's questions with their working models, kept from chunk to chunk. The seed distinguishes runs of the same number."""
    run = Run.objects.select_related("study").get(pk=run_id)
    definition = protocol_in_force(run.study).definition
    return question_analyses(People.from_bytes(bytes(run.data or b"")), definition)


def _packed(chunk: BootstrapChunk) -> bytes:
    buffer = io.BytesIO()
    parts: dict[str, Any] = dict(chunk.effects)
    np.savez(buffer, **parts)
    return buffer.getvalue()


def _unpacked(chunk: Chunk, analysis: QuestionAnalysis, *, seed: int) -> BootstrapChunk:
    chunks = chunk_count(analysis.by_family[chunk.family], replicates=REPLICATES)
    with np.load(io.BytesIO(bytes(chunk.effects or b"")), allow_pickle=False) as effects:
        return BootstrapChunk(index=chunk.index, chunks=chunks, seed=seed, effects={name: effects[name] for name in effects.files})
