"""The bootstrap of a run, chunk by chunk, by as many workers as there are: the same seed and data give the same numbers."""

import io
from collections import defaultdict
from dataclasses import replace
from datetime import timedelta
from threading import Lock, Timer

import numpy as np

from analysis.answers.datasets import People
from analysis.models import Chunk, Run
from analysis.runs.full_results import REPLICATES, StudyAnalysis, study_analysis
from analysis.runs.low_priority import at_low_priority
from analysis.runs.sequence_plans import SequencePlan
from analysis.stored_results import Results, read_results
from candor.resampling.blas_threads import single_threaded_blas
from candor.resampling.bootstrap import BootstrapChunk, ResampledStudy, chunk_count
from surveys.protocols import protocol_in_force


def effects_of(chunk: Chunk) -> bytes:
    """The replicates of one chunk, as stored."""
    seed = Run.objects.values_list("seed", flat=True).get(pk=chunk.run_id)
    with single_threaded_blas():
        analysis = kept.of(chunk.run_id, seed)
        return _packed(at_low_priority(analysis.chunk, chunk.family, chunk.question, chunk.index, seed=seed or 0))


def merged(run: Run) -> Results:
    """The results of a run, whose chunks are all done."""
    begun = read_results(run.results)
    if begun is None:
        raise ValueError("Expected the results with which the run began.")
    rows = list(run.chunks.all())
    if not rows:  # nothing was resampled, as where sections were assigned as a whole
        return begun
    analysis = kept.of(run.pk, run.seed)
    chunks: dict[tuple[str, str], list[BootstrapChunk]] = defaultdict(list)
    for chunk in rows:
        study = analysis.study(chunk.family, chunk.question)
        chunks[chunk.family, chunk.question].append(_unpacked(chunk, study, seed=run.seed or 0))
    outcomes = SequencePlan.of(run.study).with_directions(analysis.results(chunks))
    kept.forget()
    return replace(begun, outcomes=outcomes)


class _FromChunkToChunk:
    """A run's questions with their working models, for the next chunk of it, and no longer: they hold people's background answers."""

    LONGEST: timedelta = timedelta(seconds=15)

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[tuple[int, int | None], StudyAnalysis] = {}
        self._end: Timer | None = None

    def of(self, run_id: int, seed: int | None) -> StudyAnalysis:
        """Those of this run. The seed distinguishes runs of the same number."""
        with self._lock:
            found = self._kept.get((run_id, seed))
        found = _analyses(run_id) if found is None else found
        self.keep(run_id, seed, found)
        return found

    def keep(self, run_id: int, seed: int | None, analysis: StudyAnalysis) -> None:
        with self._lock:
            self._kept = {(run_id, seed): analysis}
            if self._end:
                self._end.cancel()
            self._end = Timer(self.LONGEST.total_seconds(), self.forget)
            self._end.daemon = True
            self._end.start()

    def forget(self) -> None:
        with self._lock:
            self._kept = {}


kept = _FromChunkToChunk()


def _analyses(run_id: int) -> StudyAnalysis:
    run = Run.objects.select_related("study").get(pk=run_id)
    definition = protocol_in_force(run.study).definition
    return study_analysis(People.from_bytes(bytes(run.data or b"")), definition, plan=SequencePlan.of(run.study))


def _packed(chunk: BootstrapChunk) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **chunk.effects)
    return buffer.getvalue()


def _unpacked(chunk: Chunk, study: ResampledStudy, *, seed: int) -> BootstrapChunk:
    chunks = chunk_count(study, replicates=REPLICATES)
    with np.load(io.BytesIO(bytes(chunk.effects or b"")), allow_pickle=False) as effects:
        return BootstrapChunk(index=chunk.index, chunks=chunks, seed=seed, effects={name: effects[name] for name in effects.files})
