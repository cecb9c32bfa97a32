"""The full results: every method with its bootstrap, in chunks, by any worker, and the same as computed in one piece."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis import services
from analysis.answers.datasets import people_of
from analysis.models import Chunk, Run, RunKind, RunStatus
from analysis.runs import runner
from analysis.runs.full_results import REPLICATES
from analysis.seeds import SEED_KEY
from analysis.stored_results import Results
from candor.adjustment.adjusted_study import adjusted_study
from candor.adjustment.balance import SMALLEST_GROUP
from candor.adjustment.doubly_robust import effects_with_covariates
from candor.estimators.effects import estimate_outcome
from candor.resampling.bootstrap import BootstrapChunk, bootstrap, with_bootstrap
from candor.resampling.resampled_counts import ResampledCounts
from candor.resampling.resampled_people import ResampledPeople
from candor.resampling.seeds import seed_of
from jobs import heartbeats, tasks
from jobs.registry import JOBS
from surveys.models import Participant, Study
from surveys.protocols import protocol_in_force
from surveys.studies import services as studies
from tests.factories import QUESTIONS, logged_in, recruiting_study, walk
from tests.finished_people import TELLING_DIE, add_finished_people
from tests.heartbeats import wait_for_a_beat
from tests.jobs import Sent, attempt, catch, claimed, fall_silent, held, swept, work_off, work_on, work_on_part

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("all_replicates")]
ALL_METHODS = ["efficient", "difference_in_means", "doubly_robust", "efficient_with_covariates"]


@pytest.fixture
def study() -> Study:
    study = recruiting_study(allocation={"planned_participants": 240}, die=TELLING_DIE)
    add_finished_people(study, 240)
    return study


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """The messages to the broker, collected instead of sent."""
    return catch(monkeypatch)


def first_waiting(run: Run) -> Chunk:
    found = run.chunks.filter(holder=None, due_at__isnull=False).order_by("pk").first()
    assert found is not None
    return found


def begin(study: Study) -> Run:
    """A full run that its worker has begun; its chunks wait."""
    queued = runner.queue_run(study.pk, kind=RunKind.FULL_RESULTS)
    assert queued is not None
    run: Run = claimed(queued)
    attempt(run)
    return run


def finish(run: Run) -> Run:
    work_off(run)
    run.refresh_from_db()
    return run


def definition_of(study: Study) -> Any:
    return protocol_in_force(study).definition


def test_every_question_gets_every_method_with_bootstrap_test_and_anytime_interval(study: Study) -> None:
    run = finish(begin(study))
    assert (run.status, run.n, run.method_version) == (RunStatus.DONE, 240, runner.METHOD_VERSION)
    assert set(run.results["outcomes"]) == set(QUESTIONS)
    for outcome in run.results["outcomes"].values():
        assert [effect["method"] for effect in outcome["effects"]] == ALL_METHODS
        for effect in outcome["effects"]:
            assert effect["bootstrap"]["replicates"] == REPLICATES
            assert effect["bootstrap"]["seed"] == run.seed
            assert effect["adjusted_p_value"] is not None
        assert outcome["specification_test"]["df"] == 1
        assert [effect["method"] for effect in outcome["sequence"]["effects"]] == ["efficient", "efficient_with_covariates"]
    assert json.loads(json.dumps(run.results, allow_nan=False)) == run.results


def test_files_from_background_answers_say_that_they_are_not_for_publication(study: Study) -> None:
    run = finish(begin(study))
    found = run.results["outcomes"]["attention"]["effects"]
    assert {one["method"] for one in found if not one["for_publication"]} == {"doubly_robust", "efficient_with_covariates"}
    assert run.results["balance"]["for_publication"] is False


def test_chunks_in_any_order_merge_to_what_one_piece_gives(study: Study) -> None:
    run = begin(study)
    # Other workers may take them in any order; numbering them anew turns the order round.
    chunks = list(run.chunks.order_by("-pk"))
    run.chunks.all().delete()
    Chunk.objects.bulk_create([Chunk(run=run, question=c.question, family=c.family, index=c.index, due_at=c.due_at) for c in chunks])
    run = finish(run)
    people = people_of(study, definition := definition_of(study))
    design, names = definition.design(), [question.name for question in definition.yes_no_questions]
    tables = {name: people.counts(name, arms=2, subsamples=2) for name in names}
    there = {name: np.flatnonzero(people.who_answered(name)) for name in names}
    one_by_one = {
        name: adjusted_study(
            people.reported[name][rows],
            people.arm[rows],
            people.subsample[rows],
            {covariate: values[rows] for covariate, values in people.covariates.items()},
            design=design,
        )
        for name, rows in there.items()
    }
    counts = ResampledCounts(tables["retention"], design=design)
    patterns = ResampledPeople.of(one_by_one, answered=there)
    assert run.seed == seed_of(tables.values(), key=SEED_KEY)
    expected = []
    for resampled, question in ((counts, ""), (patterns, "retention")):
        replicates = bootstrap(resampled, replicates=REPLICATES, seed=run.seed, workers=1)
        effects = estimate_outcome(tables["retention"], design=design).effects
        if resampled is patterns:
            effects = effects_with_covariates(one_by_one["retention"])
        expected += [effect.bootstrap for effect in with_bootstrap(effects, replicates, study=resampled, question=question)]
    found = [effect["bootstrap"] for effect in run.results["outcomes"]["retention"]["effects"]]
    kept = [(one["standard_error"], one["low"], one["high"]) for one in found]
    np.testing.assert_allclose(kept, [(one.standard_error, one.low, one.high) for one in expected if one is not None], rtol=1e-9)


def test_ended_runs_keep_no_copy_of_the_data_and_no_clock_time(study: Study) -> None:
    run = begin(study)
    run.refresh_from_db()
    assert run.data
    assert run.chunks.exclude(due_at=None).exists()
    run = finish(run)
    assert run.data is None
    assert run.due_at is None
    assert not run.chunks.exists()
    run.data = b"somebody's answers"
    with pytest.raises(IntegrityError), transaction.atomic():
        run.save()


def test_a_withdrawal_in_the_middle_does_not_change_what_the_chunks_look_at(study: Study) -> None:
    run = begin(study)
    work_on_part(run)
    Participant.objects.filter(study=study).order_by("pk").first().delete()
    assert finish(run).n == 240


def test_a_worker_killed_in_the_middle_is_recovered_without_losing_chunks(study: Study, sent: Sent) -> None:
    run = begin(study)
    work_on_part(run)
    work_on_part(run)
    lost = claimed(first_waiting(run))  # a worker takes a chunk and is killed, and so are all others, with their messages
    fall_silent(lost)
    assert swept(sent, "bootstrap_chunk") == [str(run.pk)] * runner.LANES
    lost.refresh_from_db()
    assert (lost.holder, lost.attempts) == (None, 1)
    assert run.chunks.filter(due_at=None).count() == 2
    run = finish(run)
    assert (run.status, run.attempts) == (RunStatus.DONE, 1)
    assert run.results["outcomes"]["attention"]["effects"][0]["bootstrap"]["replicates"] == REPLICATES


def test_a_chunk_whose_worker_fell_silent_is_taken_by_the_next_while_the_run_goes_on(
    study: Study, sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin(study)
    monkeypatch.setitem(JOBS, "bootstrap_chunk", replace(JOBS["bootstrap_chunk"], lanes=2))
    fall_silent(lost := claimed(first_waiting(run)), seconds=-3600)  # a worker takes a chunk and is killed; nobody misses it yet
    while run.chunks.filter(holder=None, due_at__isnull=False).exists():
        work_on_part(run)
    assert swept(sent, "bootstrap_chunk") == []
    fall_silent(lost)
    assert swept(sent, "bootstrap_chunk") == [str(run.pk)] * 2
    run = finish(run)
    assert (run.status, run.attempts) == (RunStatus.DONE, 1)
    assert run.results["outcomes"]["attention"]["effects"][0]["bootstrap"]["replicates"] == REPLICATES


@pytest.mark.usefixtures("postgresql")
def test_a_worker_that_computes_a_chunk_for_long_is_heard_of(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    run = begin(study)
    monkeypatch.setattr(heartbeats, "BEAT_SECONDS", 0.05)

    def long_work(*args: object, **options: object) -> object:
        wait_for_a_beat(Chunk.objects.filter(holder__isnull=False), "due_at")
        return BootstrapChunk(index=0, chunks=1, seed=1, effects={})

    monkeypatch.setattr("analysis.runs.resampling.bootstrap_chunk", long_work)
    work_on_part(run)
    assert run.chunks.filter(due_at=None).count() == 1


@pytest.mark.usefixtures("postgresql")
@pytest.mark.parametrize(("kind", "work"), [(RunKind.FIRST_RESULTS, "first_results"), (RunKind.FULL_RESULTS, "people_of")])
def test_a_worker_that_computes_or_begins_for_long_is_heard_of(
    study: Study, monkeypatch: pytest.MonkeyPatch, kind: RunKind, work: str
) -> None:
    monkeypatch.setattr(heartbeats, "BEAT_SECONDS", 0.05)
    quick_work = getattr(runner, work)

    def long_work(*args: Any) -> Any:
        wait_for_a_beat(Run.objects.filter(status=RunStatus.RUNNING), "due_at")
        return quick_work(*args)

    monkeypatch.setattr(runner, work, long_work)
    queued = runner.queue_run(study.pk, kind=kind)
    assert queued is not None
    work_on(queued)
    queued.refresh_from_db()
    assert queued.n == 240


def test_begun_full_results_may_wait_in_the_queue_for_longer_than_a_worker_may_be_silent(study: Study, sent: Sent) -> None:
    run = begin(study)
    Chunk.objects.update(due_at=timezone.now() - timedelta(seconds=61))
    assert swept(sent, RunKind.FULL_RESULTS) == []
    run.refresh_from_db()
    assert (run.status, run.attempts) == (RunStatus.RUNNING, 0)


@pytest.mark.parametrize("kind", RunKind)
def test_a_worker_that_was_killed_before_it_had_anything_is_soon_replaced(study: Study, sent: Sent, kind: RunKind) -> None:
    run = runner.queue_run(study.pk, kind=kind)
    assert run is not None
    assert Run.claim(run.pk) is not None
    for seconds, status in ((-5, RunStatus.RUNNING), (1, RunStatus.QUEUED)):
        fall_silent(run, seconds=Run.TERM.total_seconds() + seconds)
        swept(sent)
        assert Run.objects.get(pk=run.pk).status == status


def test_results_of_a_worker_whose_run_was_taken_away_are_dropped(study: Study) -> None:
    queued = runner.queue_run(study.pk, kind=RunKind.FULL_RESULTS)
    assert queued is not None
    run = claimed(queued)
    Run.objects.filter(pk=run.pk).update(holder=uuid4(), attempts=2)  # somebody else has it now
    attempt(run)
    assert not run.chunks.exists()


def test_the_end_of_a_study_asks_for_both_kinds_once(
    client: Client, committed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = recruiting_study()
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    walk(client, study)
    with committed():
        studies.close(study, actor=study.owner)
    assert sorted(Run.objects.values_list("kind", flat=True)) == ["first_results", "full_results"]
    assert [run.due_at - now for run in Run.objects.order_by("kind")] == [runner.DEBOUNCE[kind] for kind in RunKind]


def test_a_newer_request_waits_for_the_run_that_is_under_way_and_then_sees_everything(study: Study) -> None:
    run = begin(study)
    newer = runner.queue_run(study.pk, kind=RunKind.FULL_RESULTS)
    assert newer is not None
    assert Run.claim(newer.pk) is None
    finish(run)
    assert Run.claim(newer.pk) is not None


def test_a_request_for_full_results_supersedes_the_run_under_way(study: Study, committed: Callable[..., Any]) -> None:
    run = begin(study)
    begun = Run.objects.values_list("results", flat=True).get(pk=run.pk)
    with committed():
        services.request_full_results(study, actor=study.owner)
    run.refresh_from_db()
    assert (run.status, run.data, run.chunks.count()) == (RunStatus.SUPERSEDED, None, 0)
    work_on_part(run)
    run.refresh_from_db()
    assert (run.status, run.results) == (RunStatus.SUPERSEDED, begun)
    assert Run.claim(Run.objects.latest("pk").pk) is not None


def test_a_cancelled_run_stops_and_stores_nothing(study: Study) -> None:
    run = begin(study)
    work_on_part(run)
    assert services.cancel_full_results(study, actor=study.owner) is True
    work_on_part(run)
    run.refresh_from_db()
    assert (run.status, run.data, run.n) == (RunStatus.CANCELLED, None, 240)
    assert run.results["outcomes"]["attention"]["effects"][0]["bootstrap"] is None
    assert services.cancel_full_results(study, actor=study.owner) is False


def test_too_few_answers_are_part_of_the_result(client: Client) -> None:
    study = recruiting_study()
    walk(client, study)
    run = finish(begin(study))
    assert run.status == RunStatus.DONE
    assert "needed at least 1, found 0" in run.results["outcomes"]["attention"]["not_yet"]


def test_where_the_design_leaves_the_effect_between_bounds_there_is_nothing_to_resample() -> None:
    die = {"sides": 6, "subsamples": {"1": {"yes": [1], "no": [2]}, "2": {"yes": [1, 2], "no": [3, 4]}}, "cheaters": "unknown"}
    study = recruiting_study(allocation={"planned_participants": 240}, die=die)
    add_finished_people(study, 240)
    run = finish(begin(study))
    outcome = run.results["outcomes"]["attention"]
    assert run.status == RunStatus.DONE
    assert outcome["identified"] is False
    assert outcome["effects"][0]["bootstrap"] is None
    shown = logged_in(study.owner).get(reverse("analysis:results", args=[study.slug])).content.decode()
    drawn = re.findall(r"<text[^>]*>([^<]*)</text>", shown)
    assert "– (−100 to +100)" in drawn
    assert not [one for one in drawn if "doubly robust" in one], "of which nothing is known"


def test_a_study_without_background_questions_has_no_estimates_with_covariates() -> None:
    study = recruiting_study(allocation={"planned_participants": 240}, background=None)
    add_finished_people(study, 240)
    run = finish(begin(study))
    assert [effect["method"] for effect in run.results["outcomes"]["attention"]["effects"]] == ALL_METHODS[:2]
    assert run.results["balance"]["differences"] == []


def balance_now(study: Study) -> dict[str, Any]:
    """The run of a computation whose bootstrap is skipped."""
    run = begin(study)
    Run.objects.filter(pk=run.pk).update(status=RunStatus.SUPERSEDED, data=None)
    run.refresh_from_db()
    found: dict[str, Any] = run.results["balance"]
    return found


def test_two_computations_do_not_tell_what_the_person_between_told() -> None:
    """Means and sizes at two moments would give the newcomer's answer to the letter; counts at the same moments would give their report."""
    study = recruiting_study(slug="roomy", allocation={"planned_participants": 96}, die=TELLING_DIE)
    add_finished_people(study, 40)
    before = balance_now(study)
    year = [row for row in before["differences"] if row["variable"] == "year"]
    assert year[0]["treatment_mean"] is not None
    add_finished_people(study, 1, seed=2)
    assert balance_now(study) == before
    study.participants.filter(pk__in=list(study.participants.values_list("pk", flat=True)[:3])).delete()
    assert balance_now(study) == before
    add_finished_people(study, 48, seed=3)
    renewed = balance_now(study)
    assert renewed["differences"] != before["differences"]
    for arm, people in before["answered"]["year"].items():
        assert renewed["answered"]["year"][arm] >= people + SMALLEST_GROUP


def test_a_bug_in_a_chunk_fails_the_run_and_is_raised(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    run = begin(study)
    monkeypatch.setattr("analysis.runs.resampling.bootstrap_chunk", lambda *args, **kwargs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        work_on_part(run)
    run.refresh_from_db()
    assert (run.status, run.error, run.data) == (RunStatus.FAILED, "ZeroDivisionError: division by zero", None)


def test_the_history_keeps_one_result_for_each_percent_more_people() -> None:
    study = recruiting_study()
    for n in (*range(10, 20), *range(1000, 1100)):
        runner.store(Run.objects.create(study=study, status=RunStatus.RUNNING, **held()), Results(n=n, design={}, outcomes={}))
    kept = list(Run.objects.filter(study=study).order_by("pk").values_list("n", flat=True))
    assert kept[:10] == list(range(10, 20))
    assert kept[-1] == 1099
    assert 10 <= len(kept[10:]) <= 21


def test_the_task_hands_chunk_after_chunk_to_the_queue(study: Study, sent: Sent) -> None:
    queued = runner.queue_run(study.pk, kind=RunKind.FULL_RESULTS)
    assert queued is not None
    work_on(queued)
    assert [(message["kind"], message["key"]) for message in sent] == [("bootstrap_chunk", str(queued.pk))] * runner.LANES
    while sent:
        message = sent.pop()
        tasks.work(message["kind"], message["key"])
    assert Run.objects.get(pk=queued.pk).status == RunStatus.DONE


def test_blinding_is_recorded_once(study: Study) -> None:
    from audit.models import Entry

    for on in (True, True, False):
        services.blind(study, on=on, actor=study.owner)
    assert list(Entry.objects.order_by("pk").values_list("action", flat=True))[-2:] == ["results.blinded", "results.unblinded"]
