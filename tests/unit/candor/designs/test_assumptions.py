"""Every assumption that a design can state is found again in the catalogue of its sentences, to be translated."""

from collections.abc import Sequence

import pytest

from candor.designs.assumptions import ALL, MODELS, found_again
from candor.designs.forced_responses import YES_NO, CheaterModel, ForcedResponse
from candor.designs.identification import identify

MIRRORED = [ForcedResponse.of(forced_no="2/6", forced_yes="1/6"), ForcedResponse.of(forced_no="1/6", forced_yes="2/6")]
SYMMETRIC = [ForcedResponse.of(forced_no="1/6", forced_yes="1/6"), ForcedResponse.of(forced_no="1/3", forced_yes="1/3")]
CHEATERS = ["any", "always_no", "always_yes", {"yes_rate": 0.5}, {"always": "no"}, {"distribution": {"no": 0.25, "yes": 0.75}}]


@pytest.mark.parametrize("forced", [MIRRORED, SYMMETRIC])
@pytest.mark.parametrize("survey", [True, False])
@pytest.mark.parametrize("cheaters", CHEATERS)
def test_the_sentence_of_a_design_is_found_again(forced: Sequence[ForcedResponse], cheaters: object, *, survey: bool) -> None:
    said = identify(forced, CheaterModel.from_document(cheaters), survey=survey, categories=YES_NO).assumption
    found = found_again(said)
    assert found is not None
    assert str(found) == said


def test_no_sentence_stands_for_another_one() -> None:
    for words in ALL:
        for model in MODELS:
            said = words % {"model": model % {"answer": "a, b", "rates": "“a” 0.5, “b” 0.5", "rate": "0.5"}}
            found = found_again(said)
            assert found is not None
            assert (found.words, str(found)) == (words, said)
