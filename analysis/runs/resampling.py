"""The bootstrap of a run, chunk by chunk, by as many workers as there are: the same seed and data give the same numbers."""

import io
from collections import defaultdict
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
from django.db.models import Q, QuerySet
from django.utils import timezone

from analysis.answers.datasets import People
from analysis.heartbeats import SILENCE, beating
from analysis.models import Chunk, ChunkStatus, Run, RunStatus
from analysis.runs import runner
from analysis.runs.full_results import REPLICATES, QuestionAnalysis, outcome_results, question_analyses
from analysis.runs.low_priority import at_low_priority
from analysis.stored_results import document_of, read_results
from candor.resampling.blas_threads import single_threaded_blas
from candor.resampling.bootstrap import BootstrapChunk, chunk_count
from surveys.protocols import protocol_in_force


def compute_next(run_id: int) -> bool:
    """Compute a chunk that nobody has taken; store the results of the run after the last one. False: nothing is left for this worker."""
    run = Run.objects.filter(pk=run_id, status=RunStatus.RUNNING, data__isnull=False).defer("data", "results").first()
    if run is None:
        return False
    chunk = _claim_chunk(run)
    if chunk is None:
        if not run.chunks.exclude(status=ChunkStatus.DONE).exists():
            _conclude(run)
        return False
    try:
        with single_threaded_blas(), beating(partial(_heard_of, chunk)):
            analysis = _analyses(run_id, run.seed)[chunk.question]
            computed = at_low_priority(analysis.chunk, chunk.family, chunk.index, seed=run.seed or 0)
    except Exception as error:
        runner.finish(Run.objects.get(pk=run_id), RunStatus.FAILED, error=f"{type(error).__name__}: {error}")
        raise
    Chunk.objects.filter(pk=chunk.pk, status=ChunkStatus.COMPUTING).update(status=ChunkStatus.DONE, effects=_packed(computed))
    runner.heard_of(run_id)
    return True


def others_compute(run_id: int) -> bool:
    """Whether other workers have chunks of the run, one of which may be left behind."""
    return Chunk.objects.filter(run=run_id, run__status=RunStatus.RUNNING, status=ChunkStatus.COMPUTING).exists()


def _claim_chunk(run: Run) -> Chunk | None:
    """The first that waits, or whose worker fell silent. Whoever changes it first has it; the others look further."""
    while (chunk := _free(run).order_by("pk").first()) is not None:
        if _free(run).filter(pk=chunk.pk).update(status=ChunkStatus.COMPUTING, heard_at=timezone.now()):
            return chunk
    return None


def _free(run: Run) -> QuerySet[Chunk]:
    left = Q(status=ChunkStatus.COMPUTING, heard_at__lt=timezone.now() - SILENCE)
    return run.chunks.filter(Q(status=ChunkStatus.WAITING) | left).defer("effects")


def _heard_of(chunk: Chunk) -> None:
    """Its worker is alive, and so is the run."""
    Chunk.objects.filter(pk=chunk.pk, status=ChunkStatus.COMPUTING).update(heard_at=timezone.now())
    runner.heard_of(chunk.run_id)


def _conclude(run: Run) -> None:
    """Merge the chunks and store the results."""
    run = Run.objects.get(pk=run.pk)
    begun = read_results(run.results)
    if run.status != RunStatus.RUNNING or run.data is None or begun is None:
        return
    analyses = _analyses(run.pk, run.seed)
    chunks: dict[str, dict[str, list[BootstrapChunk]]] = defaultdict(lambda: defaultdict(list))
    for chunk in run.chunks.filter(status=ChunkStatus.DONE):
        chunks[chunk.question][chunk.family].append(_unpacked(chunk, analyses[chunk.question], seed=run.seed or 0))
    resampled = {question: outcome_results(analyses[question], by_family) for question, by_family in chunks.items()}
    run.results = document_of(replace(begun, outcomes={**begun.outcomes, **resampled}))
    runner.finish(run, RunStatus.DONE)


@lru_cache(maxsize=2)
def _analyses(run_id: int, seed: int | None) -> dict[str, QuestionAnalysis]:
    """The run's questions with their working models, kept from chunk to chunk. The seed tells runs of the same number apart."""
    run = Run.objects.select_related("study").get(pk=run_id)
    definition = protocol_in_force(run.study).definition
    return question_analyses(People.from_bytes(bytes(run.data or b"")), definition)


def _packed(chunk: BootstrapChunk) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **chunk.effects)
    return buffer.getvalue()


def _unpacked(chunk: Chunk, analysis: QuestionAnalysis, *, seed: int) -> BootstrapChunk:
    chunks = chunk_count(analysis.by_family[chunk.family], replicates=REPLICATES)
    with np.load(io.BytesIO(bytes(chunk.effects or b"")), allow_pickle=False) as effects:
        return BootstrapChunk(index=chunk.index, chunks=chunks, seed=seed, effects={name: effects[name] for name in effects.files})
