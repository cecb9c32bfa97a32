"""Named answers without a die: each is the yes/no comparison of that answer, and small cells hide a whole arm."""

import numpy as np
import pytest

from candor.categories.direct import direct_comparisons
from candor.categories.estimates import estimate_categories
from candor.designs.design import Design
from candor.errors import DataError
from candor.estimators.direct_comparison import EVERYBODY_FOLLOWS, direct_comparison

NAMES = ("never", "once", "often")
FACES = {"1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}}
WITH_DIE = np.array([[[148, 60, 192], [228, 60, 112]], [[112, 96, 192], [192, 96, 112]]])
DIRECT = np.array([[50, 30, 20], [40, 30, 30]])


def design(cheaters: object = "any", **more: object) -> Design:
    return Design.of(arms=("slides", "face"), control="slides", categories=NAMES, subsamples=FACES, cheater_model=cheaters, **more)


@pytest.mark.parametrize("name", ["never", "often"])
def test_each_answer_is_compared_as_yes_of_its_own_question(name: str) -> None:
    found, place = direct_comparisons(DIRECT, WITH_DIE, design=design())[name], NAMES.index(name)
    yes, said = WITH_DIE[..., place], DIRECT[:, place]
    old = direct_comparison(
        np.stack([DIRECT.sum(axis=1) - said, said], axis=-1),
        np.stack([WITH_DIE.sum(axis=-1) - yes, yes], axis=-1),
        design=design().of_one_answer(name),
    )
    assert found == old
    assert found.assumption == EVERYBODY_FOLLOWS


def test_where_the_design_tells_prevalences_they_are_those_of_all_answers_together() -> None:
    known = design({"always": "never"})
    expected = [one for one in estimate_categories(WITH_DIE, design=known).prevalence if one.measure == "category"]
    found = direct_comparisons(DIRECT, WITH_DIE, design=known)
    for one in expected:
        gap = found[one.category or ""].under_reporting[known.arms.index(one.arm)]
        assert (gap.with_die, gap.with_die_standard_error) == (one.value, one.standard_error)
        assert gap.value == pytest.approx((one.value or 0) - DIRECT[known.arms.index(one.arm), NAMES.index(one.category or "")] / 100)
    assert {one.assumption for one in found.values()} == {known.identification.assumption}
    gaps = [found[name].under_reporting[0].value or 0 for name in NAMES]
    assert sum(gaps) == pytest.approx(0, abs=1e-9), "shares add up to one either way"


def test_one_rare_answer_withholds_the_arm_in_the_comparison_of_every_answer() -> None:
    """The attack: with one answer left open, the others would tell it as what is missing to the sum."""
    assert direct_comparisons([[50, 45, 5], [40, 30, 30]], WITH_DIE, design=design())["often"].prevalence[0].n == 100
    found = direct_comparisons([[50, 46, 4], [40, 30, 30]], WITH_DIE, design=design())
    for one in found.values():
        assert (one.prevalence[0].n, one.prevalence[0].value, one.under_reporting[0].value, one.differences[0].value) == (None,) * 4
        assert one.prevalence[1].n == 100
        assert "Fewer than 5 people in arm 'slides' gave one of the answers" in one.notes[0]


def test_bad_counts_and_an_empty_cell() -> None:
    with pytest.raises(DataError, match=r"shape \(arms, answers\) = \(2, 3\)"):
        direct_comparisons([[9, 9], [9, 9]], WITH_DIE, design=design())
    nobody = WITH_DIE.copy()
    nobody[1, 1] = 0
    found = direct_comparisons(DIRECT, nobody, design=design())["once"]
    assert found.under_reporting[0].value is None
    assert found.prevalence[0].yes == 30
    assert found.notes[0].startswith("With the die: too few answers")
