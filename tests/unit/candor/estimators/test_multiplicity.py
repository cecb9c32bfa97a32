"""Holm's test over contrasts and over the questions of a family, against statsmodels."""

import gc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from candor.errors import DataError
from candor.estimators.effects import estimate_outcome
from candor.estimators.multiplicity import family_tests, holm
from tests.designs import DESIGNS

DESIGN = DESIGNS["three arms"]
NAMES = {"treatments": DESIGN.treatments, "control": DESIGN.control}


@pytest.fixture(scope="module", autouse=True)
def nothing_collected():
    """statsmodels looks through the whole memory after each test of Holm's; with all tests in it, that takes most of a minute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "collect", lambda *generation: 0)
        yield


@pytest.fixture(scope="module")
def effects():
    yes = np.random.default_rng(3).integers(50, 110, size=(3, 3, 2))
    tables = dict(zip(("drink", "cheat", "sleep"), np.stack([200 - yes, yes], axis=-1), strict=True))
    return {name: estimate_outcome(table, design=DESIGN).effects for name, table in tables.items()}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_that_of_statsmodels(p_values):
    assert holm(p_values) == pytest.approx(tuple(multipletests(p_values, method="holm")[1]))


def test_a_family_is_every_contrast_of_every_question_in_it(effects):
    tests = family_tests(effects, families={"main": ["cheat", "drink"]}, **NAMES)
    assert [(one.question, one.treatment) for one in tests] == [(q, arm) for q in ("cheat", "drink") for arm in DESIGN.treatments]
    efficient = [one.p_value for name in ("cheat", "drink") for one in effects[name] if one.method == "efficient"]
    assert [one.p_value for one in tests] == efficient
    assert [one.adjusted_p_value for one in tests] == pytest.approx(list(multipletests(efficient, method="holm")[1]))


def test_families_do_not_touch_each_other(effects):
    alone = family_tests(effects, families={"b": ["sleep"]}, **NAMES)
    assert family_tests(effects, families={"a": ["drink", "cheat"], "b": ["sleep"]}, **NAMES)[-2:] == alone


def test_a_question_without_an_estimate_still_counts(effects):
    """Else the other question would gain from answers that are missing."""
    tests = family_tests(effects | {"cheat": ()}, families={"main": ["drink", "cheat"]}, **NAMES)
    smallest = min(one.p_value for one in tests if one.p_value is not None)
    assert [one.adjusted_p_value for one in tests][2:] == [None, None]
    assert min(one.adjusted_p_value for one in tests if one.adjusted_p_value is not None) == pytest.approx(min(1, 4 * smallest))


def test_the_order_of_methods_does_not_matter(effects):
    turned = {name: tuple(reversed([replace(one) for one in of])) for name, of in effects.items()}
    families = {"main": ["drink", "cheat"]}
    assert family_tests(turned, families=families, **NAMES) == family_tests(effects, families=families, **NAMES)


@pytest.mark.parametrize(("members", "said"), [(["drink", "smoke"], "no question 'smoke'"), (["drink", "drink"], "twice")])
def test_a_family_that_cannot_be_is_refused(effects, members, said):
    with pytest.raises(DataError, match=said):
        family_tests(effects, families={"main": members}, **NAMES)
