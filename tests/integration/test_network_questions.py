"""Questions about circles, asked of the ledger: what they cost, what they answer, and what they refuse."""

from typing import Any

import numpy as np
import pytest

from analysis.ledger import services
from analysis.ledger.errors import QuestionError
from analysis.ledger.selectors import Asked, asked_before
from analysis.models import Charge, Source
from analysis.sources.selectors import schema_of_snapshot
from candor.privacy.noise import HALF_WIDTHS, discrete_gaussian, discrete_laplace
from candor.privacy.sensitivity import Sensitivity
from surveys.models import Participant
from tests.integration.test_circle import CIRCLE
from tests.jobs import work_on
from tests.ledgers import budget_of, make_snapshot, study_with_budget

pytestmark = pytest.mark.django_db
COURSES = ["algebra", "logic", "poetry"]
CLASS: dict[str, Any] = {"kind": "single_choice", "name": "class", "text": "Class?", "role": "quasi_identifier"}
CLASS["options"] = [{"name": name, "text": name} for name in COURSES]
TAKEN = {"kind": "group", "name": "taken", "text": "Courses?", "fields": [{**CLASS, "name": "course"}], "at_most": 3}
PEOPLE = 96


def told(number: int) -> dict[str, object]:
    """A third gave no list; of the others half have three close friends in algebra, half one friend in logic. Nobody reads poetry."""
    if number % 3 == 0:
        return {"class": "algebra"}
    close = number % 3 == 1
    team = {"friends": 3, "pairs": 3} if close else {"friends": 1, "pairs": 0}
    course = COURSES[0 if close else 1]
    return {"team": team, "class": course, "taken": [{"course": course}, {"course": "poetry"}]}


def source_of_circles() -> Source:
    study = study_with_budget(background=[CIRCLE, CLASS, TAKEN], epsilon=10.0)
    for number, one in enumerate(Participant.objects.filter(study=study)):
        one.background = told(number)
        one.save()
    source = Source.objects.get(study=study)
    assert make_snapshot(source).status == "ready"
    return source


def answer_to(source: Source, **document: Any) -> Asked:
    asked = services.ask(source, document, actor=source.study.owner)
    work_on(asked.charge.asking)
    return asked_before(budget_of(source))[-1]


def near(found: Any, exact: list[int], noise_sd: float) -> bool:
    """Laplace noise is further away once in a hundred million cells."""
    return bool(np.abs(np.array(found) - exact).max() <= 16 * noise_sd)


def test_degrees_count_those_who_gave_a_list() -> None:
    asked = answer_to(source_of_circles(), kind="network_degrees", circle="team", epsilon=2.0)
    assert asked.state == "answered", asked.reason
    assert asked.loss.pure_epsilon == 2.0
    assert asked.answer["noise_sd"] < 1.5
    assert near(asked.answer["values"], [0, 32, 0, 32, 0, 0, 0, 0, 0], asked.answer["noise_sd"])
    assert asked.answer["cells"][1]["name"] == "1 friend"
    for cell in asked.answer["cells"]:
        assert 0 <= cell["low"] <= cell["count"] <= cell["high"] <= PEOPLE


def test_the_two_columns_of_a_circle_are_told_apart_by_their_words() -> None:
    schema = schema_of_snapshot(source_of_circles(), 1)
    words = [schema.column(f"background.team.{key}").label.in_language("de") for key in ("friends", "pairs")]
    assert words == ["Mit wem lernst du? (Freunde)", "Mit wem lernst du? (Paare)"]


def test_ties_have_a_row_of_their_own_for_those_without_a_coefficient() -> None:
    asked = answer_to(source_of_circles(), kind="network_ties", circle="team", rho=1.0)
    assert (asked.loss.rho, asked.loss.pure_epsilon) == (1.0, None)
    assert near(asked.answer["values"], [32, 0, 0, 32, *[0] * 6], asked.answer["noise_sd"])


def test_classes_come_from_another_question_and_one_with_nobody_counts_a_half() -> None:
    source = source_of_circles()
    types = answer_to(source, kind="network_class_types", circle="team", classes="class", rho=1.0)
    assert near(types.answer["values"], [2, 0, 0, 1], types.answer["noise_sd"])
    assert {cell["high"] <= 3 for cell in types.answer["cells"]} == {True}, "there are three classes"
    mean = answer_to(source, kind="network_class_means", circle="team", classes="class", rho=0.5)
    assert near(mean.answer["values"], [1000 + 500 + 500], mean.answer["noise_sd"])
    assert mean.answer["noise_sd"] == pytest.approx(1000, rel=1e-6)
    assert 0 <= mean.answer["low"] <= mean.answer["mean"] <= mean.answer["high"] <= 1


def test_a_student_in_several_classes_costs_as_many_times() -> None:
    source = source_of_circles()
    document = {"kind": "network_class_means", "circle": "team", "classes": "taken.course", "memberships": 2, "rho": 0.5}
    asked = answer_to(source, **document)
    assert asked.answer["noise_sd"] == pytest.approx(2000, rel=1e-6)
    assert near(asked.answer["values"], [1000 + 500 + 1000], asked.answer["noise_sd"])  # algebra, logic; poetry has the algebraists
    with pytest.raises(QuestionError, match="at most 3 classes of one student, found 4"):
        services.ask(source, {**document, "memberships": 4}, actor=source.study.owner)
    with pytest.raises(QuestionError, match="at most 1 classes of one student, found 2"):
        services.ask(source, {**document, "classes": "class"}, actor=source.study.owner)


def test_a_row_that_does_not_fit_fails_no_question() -> None:
    """A failure before the noise would tell that such a row is there."""
    study = study_with_budget(background=[CIRCLE, CLASS], epsilon=10.0)
    odd = [{"team": {"friends": 2, "pairs": 28}}, {"team": {"friends": 3}}, {"team": 7}, {"team": {"friends": "x", "pairs": []}}]
    for one, background in zip(Participant.objects.filter(study=study), odd, strict=False):
        one.background = background
        one.save()
    source = Source.objects.get(study=study)
    assert make_snapshot(source).status == "ready"
    asked = answer_to(source, kind="network_ties", circle="team", epsilon=5.0)
    assert asked.state == "answered"
    assert near(asked.answer["values"], [0, 0, 0, 1, *[0] * 6], asked.answer["noise_sd"])


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"circle": "class"}, r"Expected one of the questions about friends \(team\), found class"),
        ({"epsilon": None}, "expected either epsilon or rho, found neither"),
        ({"rho": 1.0}, "expected either epsilon or rho, found both"),
        ({"epsilon": 0}, "epsilon: expected a number of at least 1e-06"),
        ({"epsilon": 11}, "epsilon: expected a number of at most 10"),
        ({"epsilon": float("nan")}, "epsilon: expected"),
        ({"kind": "network_ties", "friends": [6, 4]}, "thresholds of friends rise"),
        ({"kind": "network_ties", "clustering": [0.5, 2]}, "thresholds of clustering rise"),
        ({"kind": "network_class_means"}, "classes: this part is missing"),
        ({"kind": "network_class_means", "classes": "team.friends"}, r"with one choice \(class, taken.course\), found team.friends"),
    ],
)
def test_a_question_that_does_not_fit_is_refused_and_costs_nothing(document: dict[str, Any], said: str) -> None:
    source = source_of_circles()
    with pytest.raises(QuestionError, match=said):
        services.ask(source, {"kind": "network_degrees", "circle": "team", "epsilon": 1.0} | document, actor=source.study.owner)
    assert not Charge.objects.exists()


@pytest.mark.parametrize("scale", [0.3, 1.0, 2.0, 7.0, 40.0])
def test_the_intervals_hold_the_noise_95_times_in_100(scale: float) -> None:
    zeros, one = np.zeros(20_000, dtype=np.int64), Sensitivity(l1=1, l2_squared=1, linf=1)
    for noisy in (
        discrete_laplace(zeros, sensitivity=one, epsilon=1 / scale),
        discrete_gaussian(zeros, sensitivity=one, rho=1 / (2 * scale**2)),
    ):
        half = np.ceil(HALF_WIDTHS[noisy.noise] * noisy.noise_sd)
        assert (np.abs(noisy.values) <= half).mean() > 0.94
