"""First results: counted as they stand in the database, estimated by the library, shown in words and numbers."""

from dataclasses import asdict
from datetime import date

import numpy as np
import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from analysis.answers.datasets import cell_counts
from analysis.models import Run, RunStatus
from analysis.runs import runner
from candor.estimators.effects import estimate_outcome
from surveys.counts import exact_counts
from surveys.models import Participant, Response, Step, Study
from surveys.tokens import hash_of_token, new_token
from tests.factories import QUESTIONS, definition, logged_in, page_of, person, recruiting_study, walk
from tests.finished_people import count_everybody
from tests.jobs import work_on

pytestmark = pytest.mark.django_db

# People by (arm, subsample): how many said no and yes to every question.
GROUPS = {("slides", "1"): (104, 56), ("slides", "2"): (88, 72), ("instructor", "1"): (72, 88), ("instructor", "2"): (56, 104)}
TABLE = np.array([[GROUPS["slides", "1"], GROUPS["slides", "2"]], [GROUPS["instructor", "1"], GROUPS["instructor", "2"]]])


def people(study: Study, *, arm: str, subsample: str, no: int, yes: int, step: Step = Step.FINISHED) -> None:
    """Participants of one group with the same answer to every question."""
    day = date(2030, 1, 1)
    crowd = [
        Participant(
            study=study,
            protocol_id=study.protocol_id,
            token_hash=hash_of_token(new_token()),
            withdrawal_hash=hash_of_token(new_token()),
            language="en",
            step=step,
            arm=arm,
            subsample=subsample,
            consented_on=day,
            finished_on=day if step == Step.FINISHED else None,
        )
        for _ in range(no + yes)
    ]
    Participant.objects.bulk_create(crowd)
    if step == Step.FINISHED:
        Response.objects.bulk_create(
            Response(participant=one, question=name, reported_yes=number < yes) for number, one in enumerate(crowd) for name in QUESTIONS
        )


@pytest.fixture
def answered(study: Study) -> Study:
    for (arm, subsample), (no, yes) in GROUPS.items():
        people(study, arm=arm, subsample=subsample, no=no, yes=yes)
    count_everybody(study)
    return study


def compute(study: Study) -> Run:
    run = runner.queue_run(study.pk)
    assert run is not None
    work_on(run)
    run.refresh_from_db()
    return run


def results_page(study: Study, client: Client | None = None) -> HttpResponse:
    return (client or logged_in(study.owner)).get(reverse("analysis:results", args=[study.slug]))


def test_answers_are_counted_by_arm_subsample_and_answer(answered: Study) -> None:
    people(answered, arm="slides", subsample="1", no=3, yes=0, step=Step.QUIZ)
    counts = cell_counts(answered, definition())
    assert list(counts) == list(QUESTIONS)
    for table in counts.values():
        np.testing.assert_array_equal(table, TABLE)


def test_answers_of_another_study_do_not_count(answered: Study) -> None:
    other = recruiting_study(slug="another-study")
    assert all(table.sum() == 0 for table in cell_counts(other, definition()).values())


def test_the_stored_estimates_are_those_of_the_library(answered: Study) -> None:
    run = compute(answered)
    expected = estimate_outcome(TABLE, design=definition().design())
    assert (run.n, run.status) == (640, RunStatus.DONE)
    stored = run.results["outcomes"]["retention"]
    assert stored["cheater_proportion"] == asdict(expected.cheater_proportion) | {"interval": asdict(expected.cheater_proportion.interval)}
    for got, wanted in zip(stored["effects"], expected.effects, strict=True):
        for key in ("value", "standard_error", "p_value", "method", "treatment"):
            assert got[key] == getattr(wanted, key)
    assert run.results["design"] == definition().design().to_document()


def test_by_hand_the_effect_is_the_difference_over_the_share_of_honest_truths(answered: Study) -> None:
    # Means .35 .45 | .55 .65 → Δ = .2 over t = 1/2 is .4; subsample means .45 and .55 → x = (.55 − .45)/(2/6 − 1/6) = .6; τ = .4/.6.
    stored = compute(answered).results["outcomes"]["attention"]
    assert stored["cheater_proportion"]["value"] == pytest.approx(0.4)
    effect = next(one for one in stored["effects"] if one["method"] == "difference_in_means")
    assert effect["value"] == pytest.approx(0.4 / 0.6)


def test_the_page_shows_the_numbers_and_says_them_in_words(answered: Study) -> None:
    compute(answered)
    page = page_of(results_page(answered))
    words = " ".join(page.text_content().split())
    assert "Computed from 640 people’s answers." in words
    assert "Did your attention wander during the lecture?" in words
    expected = estimate_outcome(TABLE, design=definition().design())
    first = expected.effects[0]
    assert first.interval is not None
    planned = '(//section[contains(@class, "card")])[1]//div[@class="planned-analysis"]//details[contains(@id, "numbers")]//tbody/tr'
    cells = [" ".join(row.text_content().split()) for row in page.xpath(planned)]
    assert cells[0].startswith(
        f"Did not follow the die (λ) {expected.cheater_proportion.value:.4f} {expected.cheater_proportion.standard_error:.4f}"
    )
    assert (
        f"{first.value:.4f} {first.standard_error:.4f} {first.interval.low:.4f} to {first.interval.high:.4f} {first.p_value:.4f}"
        in cells[1]
    )
    assert "about 67 more would say yes with “Slides with the instructor” than with “Slides only”" in words


def test_no_sentence_says_that_answers_fit_which_no_shares_explain(study: Study) -> None:
    """The die forces few to say yes in subsample 1 and more in subsample 2; these answers are the other way round, alike in both arms."""
    for arm in ("slides", "instructor"):
        people(study, arm=arm, subsample="1", no=10, yes=150)
        people(study, arm=arm, subsample="2", no=150, yes=10)
    count_everybody(study)
    compute(study)
    words = " ".join(page_of(results_page(study)).text_content().split())
    assert "The answers do not fit the model: an assumption fails, or the die was not the stated one" in words
    assert "The answers fit the model" not in words


def test_the_counts_on_the_page_are_those_of_the_one_definition(answered: Study) -> None:
    compute(answered)
    facts = page_of(results_page(answered)).xpath('//dl[@class="facts"]//dd')
    counts = exact_counts(answered)
    assert [int(fact.text) for fact in facts] == [counts.consented, counts.finished, counts.finished, 0, 0], "all have a line"
    assert counts.finished == 640


def test_before_the_first_answer_the_page_says_what_will_come(study: Study) -> None:
    page = results_page(study).content.decode()
    assert "No results yet" in page
    assert f"/s/{study.slug}/" in page


def test_too_few_answers_are_a_sentence_and_not_an_error(client: Client, study: Study) -> None:
    walk(client, study)
    count_everybody(study)
    run = compute(study)
    assert run.status == RunStatus.DONE
    assert "not_yet" in run.results["outcomes"]["attention"]
    assert "1 person answered" in results_page(study).content.decode()


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (RunStatus.QUEUED, "New answers are in; the computation starts in a moment."),
        (RunStatus.RUNNING, "Computing with the new answers."),
        (RunStatus.FAILED, "The last computation failed."),
    ],
)
def test_the_page_says_what_is_being_done_and_shows_the_last_results_meanwhile(answered: Study, status: RunStatus, sentence: str) -> None:
    compute(answered)
    Run.objects.create(study=answered, status=status)
    page = results_page(answered).content.decode()
    assert sentence in page
    assert "about 67 more" in page


def test_a_superseded_run_is_no_failure(answered: Study) -> None:
    compute(answered)
    Run.objects.create(study=answered, status=RunStatus.SUPERSEDED)
    assert "Computed from 640 people’s answers." in results_page(answered).content.decode()


def test_the_page_is_there_for_the_owner_and_administrators_only(answered: Study) -> None:
    assert results_page(answered, logged_in(person(Role.ADMINISTRATOR))).status_code == 200
    assert results_page(answered, logged_in(person(Role.INVESTIGATOR))).status_code == 404
    assert results_page(answered, logged_in(person(Role.ANALYST))).status_code == 404
    assert results_page(answered, logged_in(person(Role.IRB_OFFICER))).status_code == 404
    assert results_page(answered, Client()).status_code == 302
