"""Intervals and p-values for one look: they appear at one moment that was chosen before, stay as they are, and are nowhere before it."""

import csv
import json
import math
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse

from analysis.models import Run, RunKind
from surveys.allocation.services import draw_allocation_list
from surveys.models import SlotStatus, Study
from surveys.protocols import next_protocol, protocol_in_force
from surveys.questions.assignment import Allocation
from surveys.studies import services as studies
from tests.api_requests import get
from tests.factories import logged_in, page_of, recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people, compute

pytestmark = pytest.mark.django_db
ONLY_FOR_ONE_LOOK = {"standard_error", "p_value", "adjusted_p_value", "bootstrap", "wald", "confidence_bounds"}
TABLES = ("participants", "enrolment", "balance", "sequences", "estimates", "running")


def study_of(planned: int, people: int) -> Study:
    study = recruiting_study(
        allocation={"planned_participants": planned},
        die=TELLING_DIE,
        questions=[{"name": "attention", "text": "Did your attention wander?"}],
    )
    add_finished_people(study, people, cheaters=0.0, prevalence=0.3, effect=0.4)
    compute(study)
    return study


def more(study: Study, people: int, seed: int) -> None:
    """So many more people than before, for whom the allocation list is continued."""
    while study.allocation_slots.filter(status=SlotStatus.FREE).count() < people:
        draw_allocation_list(study, protocol_in_force(study).definition)
    add_finished_people(study, people, seed=seed, cheaters=0.0, prevalence=0.3, effect=0.4)
    compute(study)


def results(study: Study) -> dict[str, Any]:
    return get(study.owner, f"studies/{study.slug}/results/")


def page(study: Study) -> str:
    text = page_of(logged_in(study.owner).get(reverse("analysis:results", args=[study.slug]))).xpath("string(//main)")
    return " ".join(text.split())


def rows(study: Study, name: str) -> list[dict[str, str]]:
    answer = logged_in(study.owner).get(reverse("analysis:table", kwargs={"slug": study.slug, "table": name}))
    return list(csv.DictReader(answer.content.decode().splitlines()))


def numbers_for_one_look(document: object) -> Iterator[float]:
    """The intervals' ends, standard errors and p-values of a stored result, but for its sequences."""
    match document:
        case dict():
            for name, part in document.items():
                if name in ("standard_error", "p_value", "low", "high") and isinstance(part, float):
                    yield part
                elif name not in ("sequence", "balance"):
                    yield from numbers_for_one_look(part)
        case list():
            for part in document:
                yield from numbers_for_one_look(part)


def everything_shown(study: Study) -> str:
    """The page, all its figures and tables, and all results by API."""
    client, texts = logged_in(study.owner), [json.dumps(results(study)), json.dumps(get(study.owner, f"studies/{study.slug}/runs/"))]
    texts.append(client.get(reverse("analysis:results", args=[study.slug])).content.decode())
    for name in TABLES:
        texts.append(client.get(reverse("analysis:table", kwargs={"slug": study.slug, "table": name})).content.decode())
    for name in ("forest-attention", "running-attention"):
        texts.append(client.get(reverse("analysis:figure", kwargs={"slug": study.slug, "figure": name, "kind": "svg"})).content.decode())
    return "".join(texts)


def shown_among(numbers: set[float], text: str) -> set[float]:
    """Those that stand in a text, in full or with four digits that are not those of a number which stands there in full."""
    found = set(re.findall(r"-?\d+\.\d+(?:e-\d+)?", text))
    rounded = found - {"0.0000", "1.0000"} - {f"{float(one):.4f}" for one in found if len(one) > 8}
    return {one for one in numbers if repr(one) in found or f"{one:.4f}" in rounded}


def test_before_the_planned_number_nothing_shows_a_number_for_one_look() -> None:
    """Not the page, its figures and tables, the results or their history by API; with the planned number all of them are there."""
    study = study_of(400, 200)
    more(study, 100, seed=2)
    numbers = {
        one
        for run in Run.objects.filter(study=study)
        for one in numbers_for_one_look(run.results["outcomes"])
        if abs(one) not in (0.0, 1.0)
    }
    assert len(numbers) > 30
    text = everything_shown(study)
    assert shown_among({one for one in numbers if len(repr(one)) > 8}, text) == set()
    assert results(study)["planned_analysis"] is None
    assert rows(study, "estimates") == []
    assert "Planned analysis" not in page(study)
    answer = logged_in(study.owner).get(
        reverse("analysis:figure", kwargs={"slug": study.slug, "figure": "planned-attention", "kind": "svg"})
    )
    assert answer.status_code == 404
    for run in results(study)["first_results"], results(study)["full_results"]:
        assert not ONLY_FOR_ONE_LOOK & {name for outcome in run["outcomes"] for name in re.findall(r'"(\w+)":', json.dumps(outcome))}
    more(study, 100, seed=3)
    final = {
        one for one in numbers_for_one_look(Run.objects.filter(kind=RunKind.FULL_RESULTS).latest("pk").results["outcomes"]) if 0 < one < 1
    }
    assert len(shown_among(final, everything_shown(study))) > 15


def test_the_first_batch_with_the_planned_number_freezes_it_and_the_sequence_goes_on() -> None:
    study = study_of(200, 200)
    before = results(study)
    assert before["planned_analysis"]["n"] == 200
    more(study, 100, seed=2)
    after = results(study)
    assert after["planned_analysis"] == before["planned_analysis"]
    assert after["first_results"]["outcomes"][0]["sequence"]["n"] == 300
    assert {row["n"] for row in rows(study, "estimates")} == {"200"}
    assert "at the 200 people of the first batch with the 200 that were planned" in page(study)
    assert "Later people move the numbers above." in page(study)
    studies.close(study, actor=study.owner)
    compute(study)
    assert results(study)["planned_analysis"] == before["planned_analysis"]
    assert "Later people move the numbers above." not in page(study)


def test_a_study_that_ends_before_has_its_last_look_with_a_warning() -> None:
    study = study_of(400, 200)
    studies.close(study, actor=study.owner)
    Run.objects.filter(study=study, status="queued").delete()
    compute(study)
    planned = results(study)["planned_analysis"]
    assert (planned["n"], planned["reached_the_plan"]) == (200, False)
    assert "They mean what they say only if the study was not ended because of its results" in page(study)


def test_after_the_end_nothing_is_shown_until_everybody_is_in() -> None:
    """While the last computation waits, the one before is not shown: that would be two looks."""
    study = study_of(400, 200)
    Run.objects.create(study=study, kind=RunKind.FIRST_RESULTS)
    Run.objects.create(study=study, kind=RunKind.FULL_RESULTS)
    Study.objects.filter(pk=study.pk).update(status="closed")
    assert results(study)["planned_analysis"] is None


def test_thinning_the_history_keeps_it() -> None:
    """One person more at a time, of which the history keeps one in each percent."""
    study = study_of(400, 399)
    for seed in range(4):
        more(study, 1, seed=10 + seed)
    assert list(Run.objects.filter(kind=RunKind.FIRST_RESULTS).order_by("n").values_list("n", flat=True)) == [399, 400, 403]
    assert results(study)["planned_analysis"]["n"] == 400


def test_one_that_an_older_version_stored_makes_way_for_the_next() -> None:
    study = study_of(200, 200)
    for run in Run.objects.all():
        run.results["outcomes"]["attention"].pop("sequence")
        run.save()
    assert results(study)["planned_analysis"] is None
    more(study, 20, seed=4)
    assert results(study)["planned_analysis"]["n"] == 220


def test_it_is_withheld_with_all_other_numbers() -> None:
    study = study_of(200, 200)
    Study.objects.filter(pk=study.pk).update(numbers_withheld=True)
    assert results(study)["planned_analysis"] is None
    assert "Planned analysis" not in page(study)


def test_an_amendment_does_not_move_it() -> None:
    """Otherwise somebody who has seen the sequence could choose the moment, and with it the width of the sequence."""
    study = study_of(400, 200)
    amended = protocol_in_force(study).definition.model_copy(update={"allocation": Allocation(planned_participants=200)})
    protocol = next_protocol(study, amended, media={})
    protocol.save()
    Study.objects.filter(pk=study.pk).update(protocol=protocol)
    compute(study)
    found = results(study)
    assert found["planned_analysis"] is None
    assert found["first_results"]["outcomes"][0]["sequence"]["planned_n"] == 400


@pytest.mark.parametrize(
    ("planned", "contrasts"),
    [
        ({}, [1, 1, 1]),
        ({"analysis": {"families": {"main": ["attention", "sleep"]}}}, [2, 1, 2]),
        ({"family": "study"}, [3, 3, 3]),  # as older documents have it
    ],
)
def test_the_protocol_names_the_effects_that_share_the_error_probability(planned: dict[str, Any], contrasts: list[int]) -> None:
    """With questions as one family every interval of theirs is wider; directions are decided over the family."""
    questions = [{"name": name, "text": f"Is it about {name}?"} for name in ("attention", "retention", "sleep")]
    study = recruiting_study(allocation={"planned_participants": 400}, die=TELLING_DIE, questions=questions, **planned)
    add_finished_people(study, 400, cheaters=0.0, prevalence=0.3, effect=0.4)
    compute(study)
    found = results(study)
    for run in found["first_results"], found["full_results"]:
        looks = [outcome["sequence"] for outcome in run["outcomes"]]
        assert [look["family"] for look in looks] == contrasts
        evidence = [look["effects"][0]["log_e_more"] for look in looks]
        # With effects as alike as these, all of a family are certain, or none.
        assert [look["effects"][0]["direction"] for look in looks] == [
            1 if one > math.log(2 * 20 * shared) else 0 for one, shared in zip(evidence, contrasts, strict=True)
        ]
