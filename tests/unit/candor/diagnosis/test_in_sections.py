"""Studies of whole sections: many at once are the same as one at a time, and a plan's design effect and power are theirs."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from candor.clusters.clustered_effects import estimate_assigned_together
from candor.clusters.people import AssignedTogether, assigned_together
from candor.diagnosis.in_sections import Sections, _answers, studies_in_sections
from candor.diagnosis.people import Cheating, DropOut, Expected, Setting, answer_probabilities
from candor.diagnosis.tallies import simulate
from candor.errors import MethodError
from candor.planning.power import plan_study
from candor.studies.diagnoses import diagnose
from tests.designs import DESIGNS

PLAIN = Setting(Cheating.NONE, DropOut.NONE)


def expected(**changes: object) -> Expected:
    given = {"n": 240, "prevalence": 0.4, "effects": (0.2,), "cheater_proportion": 0.2, "drop_out": 0.3}
    return Expected(**{**given, "cluster_size": 20, "intraclass_correlation": 0.1, **changes})


def people_of(design: object, sections: Sections, table: np.ndarray) -> AssignedTogether:
    """The rows of one study, from its answers by section and subsample."""
    section, subsample, reported = np.nonzero(table)
    times = table[section, subsample, reported].astype(int)
    section, subsample, reported = (np.repeat(one, times) for one in (section, subsample, reported))
    return assigned_together(reported, sections.arm[section], subsample, design=design, cluster=list(section))


@pytest.mark.parametrize("name", ["mirrored", "three subsamples", "symmetric, unknown", "three arms"])
def test_many_studies_at_once_are_studies_one_at_a_time(name: str) -> None:
    design, setting, studies = DESIGNS[name], Setting(Cheating.RANDOM, DropOut.TREATED), 3
    people = expected(effects=(0.2, 0.1)[: len(DESIGNS[name].treatments)])
    found = studies_in_sections(design, people, setting, studies=studies, rng=np.random.default_rng(7))
    sections = Sections.of(design, people)
    (drawn,) = _answers(design, people, setting, sections, studies=studies, rng=np.random.default_rng(7))
    joint = found.fit.joint_estimates()
    tested = found.p_values(joint.honest_times_effect, joint.honest_times_effect_variance)
    for study, table in enumerate(drawn):
        outcome, inference = estimate_assigned_together(people_of(design, sections, table), rng=np.random.default_rng(1))
        assert np.allclose(found.freedom[study], inference.degrees_of_freedom)
        for contrast, effect in enumerate(outcome.effects):
            delta = effect.honest_times_effect
            assert joint.honest_times_effect[study, contrast] == pytest.approx(delta.value)
            assert joint.honest_times_effect_variance[study, contrast] == pytest.approx(delta.standard_error**2)
            assert tested[study, contrast] == pytest.approx(effect.p_value)


def test_answers_have_the_probabilities_and_the_correlation_that_are_expected() -> None:
    """With an exact enumeration: 4,000 sections; six standard errors."""
    design, people, setting = DESIGNS["mirrored"], expected(intraclass_correlation=0.3), Setting(Cheating.ALWAYS_NO, DropOut.TREATED_YES)
    found = studies_in_sections(design, people, setting, studies=340, rng=np.random.default_rng(2))
    wanted = answer_probabilities(design, people, setting)
    n = found.counts.shape[0] * people.n
    error = np.sqrt(wanted * (1 - wanted) / n * (1 + 0.3 * people.cluster_size))
    assert (abs(found.counts.sum(axis=0) / n - wanted) < 6 * error).all()


def test_a_plan_with_sections_keeps_its_word() -> None:
    """The standard error of a plan with many sections is the spread of simulated studies; six standard errors of that."""
    design, people = DESIGNS["mirrored"], expected(n=3000, cluster_size=25, intraclass_correlation=0.05, drop_out=0.0)
    tally = simulate(design, people, PLAIN, studies=1500, rng=np.random.default_rng(3))
    (found,) = tally.found(design, people, PLAIN)
    plan = plan_study(
        design, prevalence=0.4, effects=0.2, cheater_proportion=0.0, n=3000, cluster_size=25, intraclass_correlation=0.05
    ).contrasts[0]
    assert found.power.value == pytest.approx(plan.power, abs=6 * found.power.error + 0.01)
    assert found.coverage.value > 0.95 - 6 * found.coverage.error - 0.01
    assert found.headline == found.coverage
    assert found.region.value is None
    assert found.contradicted.value is None


@pytest.mark.parametrize(
    ("name", "sections", "weights", "icc", "off"),
    [
        ("mirrored", 6, (1, 1), 0.05, 0.0),
        ("mirrored", 20, (9, 1), 0.05, 0.0),
        ("symmetric, unknown", 40, (1, 9), 0.2, 0.02),
        ("three subsamples", 12, (1, 3), 0.3, 0.03),
        ("three arms", 9, (1, 1, 1), 0.1, 0.0),
        ("three arms", 20, (2, 2, 1), 0.1, 0.0),
    ],
)
def test_a_plan_of_few_sections_has_the_power_of_their_analysis(
    name: str, sections: int, weights: tuple[int, ...], icc: float, off: float
) -> None:
    """6,000 studies: within four standard errors, one in a hundred, and what the shares of very unlike sections make."""
    design = replace(DESIGNS[name], arm_probabilities=tuple(Fraction(weight, sum(weights)) for weight in weights))
    effects = (0.3,) * len(design.treatments)
    people = expected(n=40 * sections, cluster_size=40, intraclass_correlation=icc, drop_out=0.0, effects=effects, cheater_proportion=0.1)
    setting = Setting(Cheating.RANDOM, DropOut.NONE)
    plan = plan_study(
        design,
        prevalence=0.4,
        effects=0.3,
        cheater_proportion=0.1,
        cheater_yes_rate=0.5,
        n=people.n,
        cluster_size=40,
        intraclass_correlation=icc,
    )
    found = studies_in_sections(design, people, setting, studies=6000, rng=np.random.default_rng(5))
    joint = found.fit.joint_estimates()
    if plan.cheater_proportion is not None:
        multiplier = found.multiplier(0.95).max(axis=1).mean()
        told = plan.cheater_proportion.half_width / plan.cheater_proportion.standard_error
        assert told == pytest.approx(multiplier, rel=0.02 if len(effects) == 1 else 0.15), "of several contrasts the fewest count"
    p_values = found.p_values(joint.honest_times_effect, joint.honest_times_effect_variance)
    for contrast, rejected in zip(plan.contrasts, (p_values < 0.05 / len(effects)).mean(axis=0), strict=True):
        assert contrast.power == pytest.approx(rejected, abs=4 * (rejected * (1 - rejected) / 6000) ** 0.5 + 0.01 + off)


def test_sections_that_are_alike_cost_power() -> None:
    design, found = DESIGNS["mirrored"], []
    for alike in (0.0, 0.3):
        people = expected(n=1200, cluster_size=60, intraclass_correlation=alike)
        found.append(simulate(design, people, PLAIN, studies=1000, rng=np.random.default_rng(4)).rejected[0])
    assert found[1] < found[0] - 200  # .87 and .48 of a thousand


@pytest.mark.parametrize(
    ("changes", "name", "reason"),
    [
        ({"cluster_size": 100}, "mirrored", "two or more in every arm: 240 people in sections of 100 leave 1 for arm"),
        ({"n": 5000, "cluster_size": 2}, "mirrored", "at most 1000 sections, found 2500"),
    ],
)
def test_sections_that_cannot_be_diagnosed_are_refused(changes: dict[str, object], name: str, reason: str) -> None:
    with pytest.raises(MethodError, match=reason):
        Sections.of(DESIGNS[name], expected(**changes))


def test_a_survey_has_no_sections_to_assign() -> None:
    survey = {"arms": ["students"], "control": "students", "cheater_model": "always_no", "subsamples": {
        "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}}  # fmt: skip
    with pytest.raises(MethodError, match="a survey has one arm"):
        diagnose(survey, n=200, cluster_size=20, studies=2)


def test_a_diagnosis_of_sections_tells_of_them() -> None:
    found = diagnose(
        DESIGNS["mirrored"],
        n=240,
        effects=0.2,
        cluster_size=20,
        intraclass_correlation=0.1,
        cheating=["none"],
        leaving=["none"],
        studies=20,
        seed=1,
    )
    assert "240 people in 12 sections" in " ".join(str(found).split())
    assert "region" not in str(found).splitlines()[-4]
    assert found.to_dict()["expected"]["cluster_size"] == 20
