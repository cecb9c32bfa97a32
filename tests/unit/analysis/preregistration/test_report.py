"""Planned beside done: as planned, otherwise with what differs, not done, and what nobody planned."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest
from django.utils.translation import override

from analysis.preregistration.report import Report, report_of
from analysis.stored_results import NotYet, QuestionBySubgroup, QuestionEstimate, Results, Subgroups
from candor.categories.estimates import estimate_categories
from candor.estimators.effects import estimate_outcome
from candor.sequences.looks import sequential_estimate
from surveys.preregistration.documents import preregistration_document, text_of
from surveys.preregistration.selectors import KeptPlan
from tests.categories import FREQUENCY
from tests.factories import QUESTIONS, definition
from tests.surveys import one_arm

COUNTS = [[[130, 70], [110, 90]], [[90, 110], [70, 130]]]
PLANNED = definition(allocation={"planned_participants": 800}, background=[])
LOOK = sequential_estimate(COUNTS, design=PLANNED.design(), planned_n=800)


def plan(version: int = 1, **changes: Any) -> KeptPlan:
    document = preregistration_document(PLANNED, version=version, sha256="0" * 64, registered_on=date(2026, 1, version)) | changes
    return KeptPlan(version=version, sha256="1" * 64, registered_on=date(2026, 1, version), text=text_of(document))


def results(**outcomes: QuestionEstimate | NotYet | None) -> Results:
    estimate = QuestionEstimate.of(estimate_outcome(COUNTS, design=PLANNED.design()), sequence=LOOK)
    found = dict.fromkeys(QUESTIONS, estimate) | outcomes
    there = {name: one for name, one in found.items() if one is not None}
    return Results(n=800, design=json.loads(json.dumps(PLANNED.design().to_document())), outcomes=there)


def report(found: Results | None, *plans: KeptPlan) -> Report:
    made = report_of(plans or (plan(),), found)
    assert made is not None
    return made


def estimate() -> QuestionEstimate:
    one = results().estimate("attention")
    assert one is not None
    return one


def test_everything_as_planned() -> None:
    made = report(results())
    assert [one.verdict for one in made.analyses] == ["as_planned"] * (1 + len(QUESTIONS))
    assert (made.exploratory, made.amendments) == ((), ())
    effect = made.analyses[1].effect
    assert effect is not None
    assert effect.method == "efficient"


def test_without_results_nothing_was_done() -> None:
    assert {one.verdict for one in report(None).analyses} == {"not_done"}
    assert report_of((), results()) is None


@pytest.mark.parametrize("outcome", [None, NotYet(n=3, not_yet="too few answers")])
def test_a_question_without_an_estimate_was_not_done(outcome: NotYet | None) -> None:
    assert [one.verdict for one in report(results(retention=outcome)).analyses] == [
        "as_planned",
        "as_planned",
        "not_done",
        "as_planned",
        "as_planned",
    ]


def test_another_number_of_people_and_another_design_are_told() -> None:
    made = report(replace(results(), n=312, design={}))
    assert made.analyses[0].verdict == "otherwise"
    assert "312 people are in the numbers." in made.analyses[0].differences
    assert any("not those that were planned" in one for one in made.analyses[0].differences)


def test_a_method_that_was_planned_and_not_used_is_named() -> None:
    without = replace(estimate(), effects=tuple(one for one in estimate().effects if one.method != "difference_in_means"))
    made = report(results(attention=without))
    assert made.analyses[1].verdict == "otherwise"
    assert "planned beside it" in made.analyses[1].differences[0]
    only = replace(estimate(), effects=tuple(one for one in estimate().effects if one.method == "difference_in_means"))
    made = report(results(attention=only))
    assert any("primary method" in one for one in made.analyses[1].differences)
    assert made.analyses[1].effect is None


def test_another_level_is_named() -> None:
    narrow = QuestionEstimate.of(estimate_outcome(COUNTS, design=PLANNED.design(), level=0.9), sequence=LOOK)
    assert any("0.9" in one for one in report(results(attention=narrow)).analyses[1].differences)
    with override("de"):
        (said,) = report(results(attention=narrow)).analyses[1].differences
    assert said.endswith("0,9, geplant war 0,95.")


def test_what_nobody_planned_is_exploratory() -> None:
    other = replace(estimate().effects[0], method="doubly_robust")
    turned = replace(estimate().effects[0], treatment="slides", control="instructor")
    more = replace(estimate(), effects=(*estimate().effects, other, turned))
    made = report(results(attention=more))
    assert made.analyses[1].verdict == "as_planned"
    assert len(made.exploratory) == 2
    hidden = plan(hypotheses=[one for one in plan().document["hypotheses"] if one["question"] != "retention"])
    assert len(report(results(), hidden).exploratory) == 2  # both methods for a question that the plan does not have


def test_later_plans_are_amendments_and_the_first_one_is_compared() -> None:
    later = plan(2, hypotheses=[])
    made = report(results(), plan(), later)
    assert made.amendments == (later,)
    assert [one.verdict for one in made.analyses] == ["as_planned"] * (1 + len(QUESTIONS))


def test_a_planned_comparison_of_subgroups_is_not_forgotten() -> None:
    document = plan().document
    named = plan(analysis=document["analysis"] | {"subgroups": ["gender"]})
    assert [one.verdict for one in report(results(), named).analyses][-1] == "not_done"
    one = QuestionBySubgroup(variable="gender", planned=True, effects=(), interaction=(), common=(), notes=(), question="attention")
    compared = replace(results(), subgroups=Subgroups(ended=True, withdrawn=False, outcomes=(one,)))
    assert [one.verdict for one in report(compared, named).analyses][-1] == "as_planned"
    assert len(report(compared, plan()).exploratory) == 1


@pytest.mark.parametrize("arms", [1, 2])
def test_questions_with_categories_are_planned_and_done(arms: int) -> None:
    compares = {} if arms == 2 else one_arm()
    study = definition(**{**compares, "questions": [FREQUENCY], "background": []})
    document = preregistration_document(study, version=1, sha256="0" * 64, registered_on=date(2026, 1, 1))
    assert (document["hypotheses"], document["prevalences"]) == ([], [])
    counts = np.full((arms, 2, 3), 40) + np.arange(3)
    found = estimate_categories(counts, design=study.category_design(study.category_questions[0]))
    kept = KeptPlan(version=1, sha256="1" * 64, registered_on=date(2026, 1, 1), text=text_of(document))
    done = Results(n=int(counts.sum()), design={}, outcomes={}, categories={"copying": found})
    for results_found, verdict in ((done, "as_planned"), (replace(done, categories={"copying": NotYet(n=0, not_yet="")}), "not_done")):
        made = report_of([kept], results_found)
        assert made is not None
        _sample, tested = made.analyses
        assert tested.verdict == verdict
        assert "copy an answer" in tested.planned
    assert "categories" not in plan().document
