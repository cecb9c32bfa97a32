"""A plan in words: its sentences agree with its numbers."""

from dataclasses import replace

import pytest
from django.http import QueryDict

from analysis.planning.figures import figures_of
from analysis.planning.forms import read_plan
from analysis.planning.front import front_of
from analysis.planning.page import page_of
from analysis.planning.plans import Planned, changed, make_plan
from analysis.planning.starts import NEW_STUDY
from analysis.planning.wording import (
    cheater_sentence,
    decimal,
    hardest,
    percent,
    points,
    power_sentence,
    whole,
)
from surveys.drafting.starter import PLANNED_PARTICIPANTS


def planned(query: str = "") -> Planned:
    form = read_plan(QueryDict(query), NEW_STUDY)
    return make_plan(changed(form) or form)


def test_with_seventy_two_students_nobody_can_tell_no_cheaters_from_all_cheaters() -> None:
    plan = planned("n=72").plan
    assert plan.cheater_proportion is not None
    assert plan.cheater_proportion.half_width >= 1
    assert cheater_sentence(plan) == "With 72 students you cannot tell 0 % cheaters from 100 %."


def test_with_many_students_the_share_of_cheaters_is_known() -> None:
    plan = planned("n=100000").plan
    assert plan.cheater_proportion is not None
    assert cheater_sentence(plan) == f"The share of cheaters would be known to ± {100 * plan.cheater_proportion.half_width:.1f} points."


def test_a_design_that_cannot_tell_cheaters_says_so() -> None:
    plan = planned("die=6&group1=yntttt&group2=yynntt").plan
    assert not plan.identified
    assert "cannot tell how many ignore the die" in cheater_sentence(plan)


def test_the_power_is_a_number_of_times_in_a_hundred() -> None:
    plan = planned("n=945").plan
    assert power_sentence(plan) == "With 945 students, a difference of 20 points would be found about 80 times in 100."


@pytest.mark.parametrize(
    ("query", "words"), [("effect=0&questions=4", "one question of a study of"), ("effect=50&n=100000", "almost always")]
)
def test_extreme_powers_have_words(query: str, words: str) -> None:
    assert words in power_sentence(planned(query).plan)


@pytest.mark.parametrize(
    ("proportion", "said"), [(0.0, "0 %"), (1.0, "100 %"), (0.4476, "45 %"), (0.0001, "below 1 %"), (0.9999, "above 99 %"), (None, "–")]
)
def test_a_share_that_is_not_everything_does_not_look_like_it(proportion: float | None, said: str) -> None:
    assert percent(proportion) == said


def test_numbers_are_written_as_people_write_them() -> None:
    assert (whole(53625), decimal(1.38629), whole(None)) == ("53,625", "1.386", "–")


def test_every_figure_has_its_numbers_and_the_point_of_the_plan() -> None:
    found = {figure.name: figure for figure in figures_of(planned())}
    assert set(found) == {"power-students", "error-students", "cheaters-students", "power-epsilon", "error-epsilon", "students-epsilon"}
    for name, figure in found.items():
        assert figure.description, name
        assert len(figure.rows) >= 5, name
        assert {len(row) for row in figure.rows} == {len(figure.header)}, name
    found = {figure.name: figure for figure in figures_of(planned("n=400"))}
    assert ("400", percent(hardest(planned("n=400").plan).power), "98 %") in found["power-students"].rows


def test_a_new_study_starts_with_as_many_people_as_its_plan_needs() -> None:
    """It started with 400, which find 20 points 44 times in 100."""
    plan = planned().plan
    assert plan.n == hardest(plan).participants_needed == PLANNED_PARTICIPANTS


def test_the_front_says_which_die_is_for_the_test_and_which_for_the_size() -> None:
    found = front_of(planned("cheaters=15"))
    fewest, size = found.rows[0], next(row for row in found.rows if "smallest error of the effect" in row.best_at)
    (sentence,) = found.sentences
    assert f"design {fewest.number} needs fewest students, {fewest.needed}" in sentence
    assert f"knows the size to {size.effect_error} points and needs {size.needed}" in sentence
    for figure in found.figures:
        assert figure.svg.count("<a href=") == len(found.rows)
        assert 'role="group"' in figure.svg
        assert "the die in use: 1,063 students" in figure.svg


def test_a_plan_without_an_effect_has_designs_and_no_figure_of_them() -> None:
    found = front_of(planned("effect=0"))
    assert (found.figures, found.sentences) == ((), ())
    assert {row.needed for row in found.rows} == {"–"}


def test_covariates_and_the_least_truth_change_the_front() -> None:
    plain, explained, truthful = (front_of(planned(query)).rows for query in ("", "covariates=50", "truth=45"))
    assert int(explained[0].needed) < int(plain[0].needed)
    assert "13 yes, 2 no" in plain[1].subsamples
    assert not any("13 yes, 2 no" in row.subsamples for row in truthful)


def test_the_table_of_power_reaches_what_was_wanted_at_the_number_needed() -> None:
    rows = dict(row[:2] for row in next(one for one in figures_of(planned()) if one.name == "power-students").rows)
    assert rows["945"] == "80 %"


def test_a_plan_without_an_effect_and_one_without_identification_still_have_figures() -> None:
    assert "students-epsilon" not in {figure.name for figure in figures_of(planned("effect=0"))}
    symmetric = {figure.name: figure for figure in figures_of(planned("die=6&group1=yntttt&group2=yynntt"))}
    assert "cheaters-students" not in symmetric
    assert "does not determine the size of the effect" in symmetric["error-students"].description


@pytest.mark.parametrize(
    "query",
    ["n=2", "n=1000000", "effect=-40", "effect=60", "prevalence=0&effect=0", "cheaters=95", "cap=0.1", "cap=8", "questions=20&power=99"],
)
def test_the_page_can_show_every_plan_at_the_limits(query: str) -> None:
    one = planned(query)
    page = page_of(one)
    assert len(page["facts"]) == 6
    assert figures_of(one)
    assert page["over_cap"] == (one.plan.epsilon > one.form.value("cap") + 1e-9)


def test_the_contrast_of_the_headline_is_the_least_precise() -> None:
    plan = planned().plan
    precise = replace(plan.contrasts[0], treatment="a", honest_times_effect_standard_error=0.01)
    assert hardest(replace(plan, contrasts=(precise, plan.contrasts[0]))) == plan.contrasts[0]


@pytest.mark.parametrize(
    ("number", "said"), [(-0.0004, "0.0"), (0.0004, "0.0"), (-0.0, "0.0"), (-0.0006, "−0.1"), (0.0006, "0.1"), (None, "–")]
)
def test_a_zero_has_no_sign_and_a_negative_number_a_minus(number: float | None, said: str) -> None:
    assert points(number) == said
    assert decimal(None if number is None else 100 * number, 1) == said.replace("−", "-")
