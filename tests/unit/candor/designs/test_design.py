import json
import math
import pickle
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candor.designs.design import CheaterModel, Design, ForcedResponse, exact_probability
from candor.errors import DesignError, MethodError, TooFewResponsesError

MIRRORED = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
ARMS = ("control", "treatment")


def test_the_default_design_has_epsilon_ln_4(mirrored: Design) -> None:
    assert mirrored.epsilon == pytest.approx(math.log(4))


def test_epsilon_is_the_largest_log_ratio_of_the_report_probabilities() -> None:
    device = ForcedResponse.of(forced_no="0.1", forced_yes="0.25")
    yes_if_yes, yes_if_no = 1 - 0.1, 0.25
    ratios = [yes_if_yes / yes_if_no, (1 - yes_if_no) / (1 - yes_if_yes)]
    assert device.epsilon == pytest.approx(math.log(max(ratios)))


def test_epsilon_is_infinite_when_one_answer_is_never_forced() -> None:
    assert ForcedResponse.of(forced_no=0, forced_yes="1/6").epsilon == math.inf


def test_epsilon_is_zero_when_the_truth_is_never_asked() -> None:
    assert ForcedResponse.of(forced_no="1/2", forced_yes="1/2").epsilon == 0


def test_losses_of_several_questions_add(mirrored: Design) -> None:
    assert mirrored.composed_epsilon(4) == pytest.approx(4 * math.log(4))
    assert mirrored.composed_epsilon(2, rolls_per_question=3) == pytest.approx(6 * math.log(4))


@pytest.mark.parametrize(("questions", "rolls"), [(4, Fraction(1, 4)), (2, 0.5), (4, 0)])
def test_one_shared_roll_for_several_questions_is_refused(mirrored: Design, questions: int, rolls: float) -> None:
    with pytest.raises(DesignError, match="own roll"):
        mirrored.composed_epsilon(questions, rolls_per_question=rolls)


@pytest.mark.parametrize(("questions", "rolls"), [(0, 1), (1, 0), (1, 1.5), (True, 1)])
def test_numbers_of_questions_and_rolls_must_be_whole(mirrored: Design, questions: int, rolls: float) -> None:
    with pytest.raises(DesignError, match="whole number"):
        mirrored.composed_epsilon(questions, rolls_per_question=rolls)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"arms": ()}, "at least 1 arm, found 0"),
        ({"arms": ("control", "control")}, "arms must differ"),
        ({"control": "nobody"}, "one of the arms control, treatment, not 'nobody'"),
        ({"subsamples": {"1": MIRRORED["1"]}}, "at least 2 subsamples, found 1"),
        ({"subsamples": {"1": MIRRORED["1"], "2": MIRRORED["1"]}}, "all are the same"),
        ({"subsamples": {**MIRRORED, "2": {"forced_no": 0, "forced_yes": "1/6"}}}, "epsilon is infinite"),
        ({"subsamples": {**MIRRORED, "2": {"forced_no": "1/6", "forced_yes": "5/6"}}}, "never asks for the truth"),
        ({"subsamples": {**MIRRORED, "2": {"forced_no": "3/6", "forced_yes": "4/6"}}}, "at most 1"),
        ({"subsamples": {**MIRRORED, "2": {"forced_no": -0.1, "forced_yes": "4/6"}}}, "must lie in"),
        ({"subsamples": {**MIRRORED, "2": {"forced_no": 0.2}}}, "exactly forced_no and forced_yes"),
        ({"arm_probabilities": ("0.5", "0.4")}, "add up to 1"),
        ({"arm_probabilities": (1, 0)}, "positive probabilities"),
        ({"subsample_probabilities": (0.2, 0.3, 0.5)}, "must be 2 positive"),
        ({"cheater_model": "sometimes"}, "cheater_model must be one of"),
        ({"cheater_model": {"yes_rate": 1.2}}, "must lie in"),
        ({"cheater_model": {"rate": 0.5}}, "must be a name or"),
    ],
)
def test_designs_that_protect_nobody_or_teach_nothing_are_refused(change: dict[str, Any], complaint: str) -> None:
    parts: dict[str, Any] = {"arms": ARMS, "control": "control", "subsamples": MIRRORED}
    with pytest.raises(DesignError, match=complaint):
        Design.of(**(parts | change))


@pytest.mark.parametrize("value", ["one", "1/0", "1e-999999999", "１/2", float("nan"), float("inf"), None, True, [0.5]])
def test_text_that_is_no_number_is_no_probability(value: Any) -> None:
    with pytest.raises(DesignError, match="share must be a number"):
        exact_probability(value, name="share")


def test_data_collected_elsewhere_can_be_reanalysed_although_epsilon_is_infinite() -> None:
    leaky = {"1": {"forced_no": 0, "forced_yes": "0.1667"}, "2": {"forced_no": 0, "forced_yes": "0.104"}}
    design = Design.of(arms=ARMS, control="control", subsamples=leaky, reanalysis=True)
    assert design.epsilon == math.inf
    assert Design.from_document(design.to_document()).reanalysis


def test_floats_of_simple_fractions_become_those_fractions() -> None:
    assert exact_probability(1 / 3, name="p") == Fraction(1, 3)
    assert exact_probability(0.1667, name="p") == Fraction(1667, 10000)
    assert exact_probability(0.123456789012345, name="p") == Fraction("0.123456789012345")


def test_the_contract_document_is_read() -> None:
    design = Design.from_document(
        {"arms": ["control", "treatment"], "control": "control", "subsamples": MIRRORED, "cheater_model": {"yes_rate": 0.5}}
    )
    assert design.cheater_model.yes_rate == Fraction(1, 2)
    assert design.arm_shares.tolist() == [0.5, 0.5]
    assert design.forced_yes.tolist() == pytest.approx([1 / 6, 2 / 6])


def test_allocation_is_read_by_name() -> None:
    document = {
        "arms": list(ARMS),
        "control": "control",
        "subsamples": MIRRORED,
        "allocation": {"arms": {"treatment": "2/3", "control": "1/3"}, "subsamples": {"2": 0.25, "1": 0.75}},
    }
    design = Design.from_document(document)
    assert design.arm_probabilities == (Fraction(1, 3), Fraction(2, 3))
    assert design.subsample_probabilities == (Fraction(3, 4), Fraction(1, 4))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"arms": "control"}, "arms must be a list"),
        ({"subsamples": [1, 2]}, "subsamples must be an object"),
        ({"allocation": {"arms": {"control": 1}}}, "allocation of arms must give a probability"),
        ({"allocation": {"people": {}}}, "allocation must be"),
        ({"colour": "red"}, "unknown keys colour"),
    ],
)
def test_documents_with_mistakes_are_refused_by_key(change: dict[str, object], complaint: str) -> None:
    with pytest.raises(DesignError, match=complaint):
        Design.from_document({"arms": list(ARMS), "control": "control", "subsamples": MIRRORED} | change)


def test_an_incomplete_document_names_what_it_lacks() -> None:
    with pytest.raises(DesignError, match="lacks control, subsamples"):
        Design.from_document({"arms": list(ARMS)})


def test_a_design_survives_its_document_and_a_pickle(design: Design) -> None:
    assert Design.from_document(json.loads(json.dumps(design.to_document()))) == design
    assert pickle.loads(pickle.dumps(design)) == design
    assert hash(design) == hash(Design.from_document(design.to_document()))


@given(
    st.lists(
        st.tuples(st.fractions("1/100", "2/5", max_denominator=100), st.fractions("1/100", "2/5", max_denominator=100)),
        min_size=2,
        max_size=4,
        unique=True,
    )
)
def test_any_valid_design_survives_its_document(forced: list[tuple[Fraction, Fraction]]) -> None:
    subsamples = {str(index): ForcedResponse(forced_no=no, forced_yes=yes) for index, (no, yes) in enumerate(forced)}
    design = Design.of(arms=ARMS, control="treatment", subsamples=subsamples)
    assert Design.from_document(design.to_document()) == design


def test_contrasts_come_in_the_order_of_the_arms() -> None:
    design = Design.of(arms=("a", "control", "b"), control="control", subsamples=MIRRORED)
    assert (design.control_index, design.treatment_indexes, design.treatments) == (1, (0, 2), ("a", "b"))


def test_a_cheater_model_cannot_contradict_itself() -> None:
    with pytest.raises(DesignError, match="no free yes rate"):
        CheaterModel(name="always_no", yes_rate=Fraction(1, 2))
    with pytest.raises(DesignError, match="needs a yes rate"):
        CheaterModel(name="yes_rate")


def test_errors_survive_the_way_back_from_another_process() -> None:
    error = pickle.loads(pickle.dumps(TooFewResponsesError(needed=4, found=1, of="arm 'a'")))
    assert (error.needed, error.found, str(error)) == (4, 1, "too few answers in arm 'a': needed at least 4, found 1")
    assert isinstance(error, MethodError)
