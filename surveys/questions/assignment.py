"""How chance gives people, or whole sections, their arms and subsamples."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from surveys.questions.parts import Name, Part, Text
from surveys.questions.sections import SectionLabels

MOST_STRATA = 60
MOST_PARTICIPANTS = 1_000_000


class Allocation(Part):
    """How the concealed list is drawn. `block_multiples`: a block is a random one of these multiples of the sum of the weights.

    `strata`: background questions with one choice each; every combination of answers has lists of its own. `unit`: chance gives an arm to
    each person, or to each of the `sections` as a whole.
    """

    scheme: Literal["simple", "complete", "permuted_block"] = "permuted_block"
    planned_participants: Annotated[int, Field(ge=2, le=MOST_PARTICIPANTS)]
    block_multiples: Annotated[tuple[Annotated[int, Field(ge=1, le=20)], ...], Field(min_length=1)] = (1, 2, 3)
    strata: Annotated[tuple[Name, ...], Field(max_length=2)] = ()
    unit: Literal["individual", "cluster"] = "individual"
    sections: SectionLabels = ()


def _whole_percent(share: float) -> float:
    if abs(share * 100 - round(share * 100)) > 1e-9:
        raise ValueError(f"expected whole hundredths, such as 0.15, got {share:g}")
    return share


class DirectGroup(Part):
    """The share of people who are asked directly, if they agree to `consent`, for which everybody is asked before the draw."""

    share: Annotated[float, Field(gt=0, le=0.5), AfterValidator(_whole_percent)]
    consent: Text
