"""People who enter or leave the shown numbers of one study change nothing in the study beside it."""

import pytest

from surveys.batches import recount
from surveys.batches import services as batches
from surveys.batches.numbers import State
from surveys.batches.selectors import batch_progress, consent_counts, people_in_tens, shown_counts, version_of_shown_numbers, ways_shown
from surveys.batches.tally import kept_lines
from surveys.counts import ConsentCount, comers, deleted_while_held_back, exact_consent_counts, exact_counts
from surveys.models import AttritionCount, CounterKind, KeptCounts, Participant, ShardedCounter, ShownNumbers, Step, Study, WayNumbers
from surveys.studies import services as studies
from tests.factories import recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people
from tests.jobs import catch
from tests.releases import withdraw_one

pytestmark = pytest.mark.django_db
PEOPLE = 140


@pytest.fixture
def two_studies(monkeypatch: pytest.MonkeyPatch) -> tuple[Study, Study]:
    """Each has one batch in its numbers, and people who complete the next one. Nothing but people came to the second."""
    catch(monkeypatch)
    planned = {"planned_participants": 400, "block_multiples": [1]}
    study, beside = (recruiting_study(slug=slug, allocation=planned, die=TELLING_DIE) for slug in ("a-study", "another-study"))
    WayNumbers.objects.create(study=study, counts={"lecture": {"agreed": 20}})
    AttritionCount.objects.create(study=study, step=Step.VIDEO, subsample="", arm="", count=30)
    for kind in (CounterKind.DECLINED, CounterKind.WITHDREW, CounterKind.UNFINISHED):
        ShardedCounter.objects.create(study=study, kind=kind, version=1, shard=0, count=30)
    for one in (study, beside):
        add_finished_people(one, PEOPLE, counted=False, unfinished=0.2)
        assert batches.count_next_batch(one)
        add_finished_people(one, PEOPLE, seed=2, counted=False, unfinished=0.2)
    return study, beside


def numbers_of(study: Study) -> list[str]:
    """All that is stored and shown about the people of a study."""
    study = Study.objects.get(pk=study.pk)
    stored = [[*model._default_manager.filter(study=study).values()] for model in (Participant, KeptCounts, ShownNumbers)]
    assert all(stored), "the test must see what it looks for"
    shown = shown_counts(study), consent_counts(study), batch_progress(study), people_in_tens().get(study.slug), ways_shown(study)
    states = State.of(study), version_of_shown_numbers(study), kept_lines(study.pk), study.numbers_withheld
    return [*sorted(repr(row) for rows in stored for row in rows), repr(shown), repr(states)]


def test_a_batch_and_a_withdrawal_move_people_of_their_own_study_alone(two_studies: tuple[Study, Study]) -> None:
    study, beside = two_studies
    kept = numbers_of(beside)
    assert batches.count_next_batch(study)
    withdraw_one(study)
    batches.keep_shown_numbers(study)
    recount.count_again(study)
    assert numbers_of(beside) == kept
    kept = numbers_of(study)
    assert batches.show_who_is_on_the_way(beside), "enough have come, although more are in the numbers of the other study"
    assert batches.count_next_batch(beside)
    batches.keep_shown_numbers(beside)
    assert numbers_of(study) == kept
    assert [recount.wrong_counts(one) for one in two_studies] == [{}, {}]
    assert [bool(ways_shown(one)) for one in two_studies] == [True, False]
    found = exact_counts(beside)
    assert (found.declined, found.withdrew, found.consented, comers(beside)) == (0, 0, 2 * PEOPLE, 2 * PEOPLE)
    assert exact_consent_counts(beside) == [ConsentCount(version=1, agreed=2 * PEOPLE, declined=0, withdrew=0)]
    assert deleted_while_held_back(beside) == 0


def test_a_closing_shows_everybody_of_its_own_study_alone(two_studies: tuple[Study, Study], monkeypatch: pytest.MonkeyPatch) -> None:
    study, beside = two_studies
    withdraw_one(beside)
    kept = numbers_of(beside)
    monkeypatch.setattr(batches, "FEW", 0)
    study = studies.close(study, actor=study.owner)
    assert Study.objects.get(pk=study.pk).numbers_withheld
    batches.count_people_of_closed_studies()
    everybody = Participant.objects.filter(study=study)
    assert not everybody.filter(counted=False).exists()
    study.refresh_from_db()
    withdraw_one(study)
    assert len({(one.arm, one.subsample) for one in everybody.filter(counted=False)}) == 1
    assert numbers_of(beside) == kept, "withheld as before"
    assert [recount.wrong_counts(one) for one in two_studies] == [{}, {}]


def test_counts_of_one_study_are_made_anew_although_others_are_kept(two_studies: tuple[Study, Study]) -> None:
    study, beside = two_studies
    kept = numbers_of(beside)
    KeptCounts.objects.filter(study=study).delete()
    recount.check_counts()
    assert recount.wrong_counts(study) == {}
    assert numbers_of(beside) == kept
