"""Designs whose questions have two to six answers: privacy by brute force, identification by rank, and what is refused."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candor.designs.design import CheaterModel, Design, ForcedResponse
from candor.designs.dice import DieDesign
from candor.errors import DesignError
from candor.estimators.effects import estimate_outcome

NAMES = ("never", "once", "often")
DOCUMENT = {
    "arms": ["slides", "face"],
    "control": "slides",
    "categories": list(NAMES),
    "ordered": True,
    "subsamples": {
        "1": {"never": "1/8", "once": "1/8", "often": "3/8"},
        "2": {"never": "3/8", "once": "1/8", "often": "1/8"},
    },
    "cheater_model": {"always": "never"},
}


def rules(categories):
    """Forced faces of a twenty-sided die: every category at least one, and one face for the truth."""
    return st.lists(st.integers(1, 3), min_size=categories, max_size=categories)


@given(st.integers(2, 6).flatmap(rules))
def test_epsilon_is_the_largest_log_ratio_over_all_answers_and_truths(faces):
    device = ForcedResponse(forced=[Fraction(one, 20) for one in faces])
    answers = range(len(faces))
    chance = {
        (answer, truth): device.forced[answer] + (device.truth if answer == truth else 0) for answer, truth in product(answers, repeat=2)
    }
    ratios = [chance[answer, one] / chance[answer, other] for answer, one, other in product(answers, repeat=3)]
    assert device.epsilon == pytest.approx(math.log(max(ratios)), abs=1e-12)
    assert all(sum(chance[answer, truth] for answer in answers) == 1 for truth in answers)


@given(st.integers(1, 9), st.integers(1, 9))
def test_two_answers_are_the_forced_response_that_there_was(no, yes):
    one = ForcedResponse.of(forced_no=Fraction(no, 20), forced_yes=Fraction(yes, 20))
    assert one == ForcedResponse(forced=(Fraction(no, 20), Fraction(yes, 20)))
    before = math.log(max((1 - one.forced_no) / one.forced_yes, (1 - one.forced_yes) / one.forced_no))
    assert one.epsilon == before
    assert pickle.loads(pickle.dumps(one)) == one


@settings(max_examples=60)
@given(
    st.integers(2, 4).flatmap(
        lambda c: st.tuples(st.lists(rules(c), min_size=2, max_size=3, unique_by=tuple), st.sampled_from(["any", "first"]))
    )
)
def test_identification_is_the_rank_of_the_linear_model(drawn):
    """A number is identified if and only if its row adds no rank to the matrix of all shares, as functions of (Π, x, Q) of two arms."""
    forced, model = drawn
    names = tuple("abcd"[: len(forced[0])])
    design = Design.of(
        arms=("one", "other"),
        control="one",
        categories=names,
        subsamples={str(s): dict(zip(names, [f"{one}/20" for one in rule], strict=True)) for s, rule in enumerate(forced)},
        cheater_model="any" if model == "any" else {"always": names[0]},
    )
    others, rows = len(names) - 1, []
    free = others if model == "any" else 0
    for arm, s, c in product(range(2), range(len(forced)), range(1, len(names))):
        row = np.zeros(2 * others + 1 + free)
        row[arm * others + c - 1], row[2 * others] = design.truth[s], design.forced_answers[s, c]
        if free:
            row[2 * others + c] = 1
        rows.append(row)
    matrix, unit = np.array(rows), np.eye(2 * others + 1 + free)

    def determined(*columns):
        return np.linalg.matrix_rank(np.vstack([matrix, unit[list(columns)]]), tol=1e-9) == np.linalg.matrix_rank(matrix, tol=1e-9)

    found = design.identification
    assert found.honest_proportion == found.effect == determined(2 * others)
    assert found.prevalence == determined(*range(2 * others + 1))
    assert np.linalg.matrix_rank(np.vstack([matrix, unit[0] - unit[others]]), tol=1e-9) == np.linalg.matrix_rank(matrix, tol=1e-9)


def test_a_document_comes_back_as_it_was():
    design = Design.from_document(DOCUMENT)
    again = Design.from_document(design.to_document())
    assert again == design
    assert design.scores == (0, 1, 2)
    assert design.to_document()["scores"] == ["0", "1", "2"]
    assert design.identification.assumption == "Cheaters always answer “never”, alike in every arm and subsample."
    assert pickle.loads(pickle.dumps(design)) == design


def test_no_and_yes_by_name_are_the_design_without_names():
    named = Design.from_document(
        {
            "arms": ["a", "b"],
            "control": "a",
            "categories": ["no", "yes"],
            "subsamples": {"1": {"no": "2/6", "yes": "1/6"}, "2": {"no": "1/6", "yes": "2/6"}},
            "cheater_model": {"distribution": {"no": 0.75, "yes": 0.25}},
        }
    )
    plain = Design.from_document(
        {
            "arms": ["a", "b"],
            "control": "a",
            "subsamples": {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
            "cheater_model": {"yes_rate": 0.25},
        }
    )
    assert named == plain
    assert "categories" not in named.to_document()
    assert Design.from_document(plain.to_document() | {"cheater_model": {"always": "no"}, "categories": ["no", "yes"]}).cheater_model == (
        CheaterModel(name="always_no")
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"subsamples": {**DOCUMENT["subsamples"], "2": {"never": "3/8", "once": "1/8"}}},
            "subsample '2' never forces often: the die must",
        ),
        ({"subsamples": {**DOCUMENT["subsamples"], "2": {"never": "3/8", "once": 0, "often": 0}}}, "never forces once and often: the die"),
        ({"subsamples": {**DOCUMENT["subsamples"], "2": {"forced_no": "1/8", "forced_yes": "1/8"}}}, "exactly never and once and often"),
        ({"subsamples": {**DOCUMENT["subsamples"], "2": {"never": "3/8", "once": "4/8", "often": "1/8"}}}, "never asks for the truth"),
        ({"subsamples": {**DOCUMENT["subsamples"], "2": {"never": "3/8", "once": "4/8", "often": "2/8"}}}, "at most 1 together"),
        ({"categories": ["never"]}, "2 to 6 categories, found 1"),
        ({"categories": list("abcdefg")}, "2 to 6 categories, found 7"),
        ({"categories": ["never", "Never", "often"]}, "must differ"),
        ({"categories": ["never", "truth", "often"]}, "other than 'truth'"),
        ({"categories": ["never", " once", "often"]}, "without spaces"),
        ({"categories": ["never", "NA", "often"]}, "an answer is missing"),
        ({"categories": "never"}, "a list of names"),
        ({"scores": [0, 2, 1]}, "increasing numbers"),
        ({"scores": [0, 1]}, "one for each of never, once, often"),
        ({"scores": 3}, "increasing numbers"),
        ({"scores": "012"}, "increasing numbers"),
        ({"scores": [0, 1, "1e999999999"]}, "increasing numbers"),
        ({"scores": [0, 1, "1/0"]}, "increasing numbers"),
        ({"scores": [0, True, 2]}, "increasing numbers"),
        ({"scores": [0, 1, None]}, "increasing numbers"),
        ({"ordered": "yes"}, "ordered must be true or false"),
        ({"cheater_model": "always_no"}, "is for yes/no questions"),
        ({"cheater_model": {"yes_rate": 0.5}}, "is for yes/no questions"),
        ({"cheater_model": {"always": "sometimes"}}, "names 'sometimes', but the categories are never, once, often"),
        ({"cheater_model": {"distribution": {"never": 0.5, "once": 0.4}}}, "add up to 1, found never: 1/2, once: 2/5"),
        ({"cheater_model": {"distribution": {"never": 1}}}, "two categories or more"),
        ({"cheater_model": {"always": 3}}, "must be a name or"),
    ],
)
def test_designs_that_cannot_be_are_refused(change, words):
    with pytest.raises(DesignError, match=words):
        Design.from_document(DOCUMENT | change)


def test_what_is_made_for_yes_and_no_refuses_other_answers():
    design = Design.from_document(DOCUMENT)
    for name in ("forced_yes", "forced_no"):
        with pytest.raises(DesignError, match="computed for yes/no questions, but the design has the categories never, once, often"):
            getattr(design, name)
    with pytest.raises(DesignError, match="forces 3 answers"):
        _ = design.forced_responses[0].forced_yes


@pytest.mark.parametrize("given", [{}, {"forced_no": "1/6"}, {"forced_no": "1/6", "forced": ("1/6", "1/6")}, {"forced": ("1/6",)}])
def test_a_forced_response_is_given_in_one_way(given):
    with pytest.raises(DesignError, match="a forced response needs"):
        ForcedResponse(**given)


def test_a_die_must_name_the_faces_of_every_category():
    with pytest.raises(DesignError, match="must name the faces for 'never' and 'once' and 'often', not"):
        DieDesign(sides=8, categories=NAMES, faces={"1": {"never": (1,), "often": (2,)}})
    die = DieDesign(
        sides=8,
        categories=NAMES,
        faces={"1": {"never": (1,), "once": (), "often": (2,)}, "2": {"never": (1,), "once": (3,), "often": (2,)}},
    )
    with pytest.raises(DesignError, match="subsample '1' never forces once: the die must force every category"):
        Design(arms=("a", "b"), control="a", categories=NAMES, subsamples=die.forced_responses())


@pytest.mark.parametrize("cheaters", ["any", {"always": "never"}, {"distribution": {"never": "1/2", "often": "1/2"}}])
def test_one_answer_against_all_others_is_a_yes_no_question_with_the_same_truth(cheaters):
    """Without chance both find the same cheaters and effects; an answer forced equally often everywhere tells no cheaters apart."""
    faces = {"1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}}
    whole = Design.of(arms=("a", "b"), control="a", categories=("never", "once", "often"), cheater_model=cheaters, subsamples=faces)
    p, q = np.array([[0.5, 0.3, 0.2], [0.35, 0.3, 0.35]]), {"any": (0.2, 0.3, 0.5)}.get(str(cheaters))
    q = np.array(q if q else whole.cheater_shares)
    counts = 1e8 * (0.8 * (whole.truth[:, None] * p[:, None] + whole.forced_answers) + 0.2 * q)
    for place in (0, 2):
        one = whole.of_one_answer(whole.categories[place])
        yes = np.round(counts[..., place])
        found = estimate_outcome(np.stack([np.round(counts.sum(axis=-1)) - yes, yes], axis=-1), design=one)
        assert found.cheater_proportion.value == pytest.approx(0.2, abs=1e-4)
        assert found.headline[0].value == pytest.approx(p[1, place] - p[0, place], abs=1e-4)
    with pytest.raises(DesignError, match="the subsamples must play different forced responses"):
        whole.of_one_answer("once")
    with pytest.raises(DesignError, match="there is no answer 'seldom'"):
        whole.of_one_answer("seldom")
