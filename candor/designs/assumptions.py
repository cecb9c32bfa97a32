"""Assumptions on people who do not follow the die, in English sentences. A page with a catalogue finds them again and translates them."""

from __future__ import annotations

from candor.sentences import Sentence, found_among

ALWAYS_NO, ALWAYS_YES = "Cheaters always answer no", "Cheaters always answer yes"
ALWAYS = "Cheaters always answer “%(answer)s”"
AT_RATES = "Cheaters answer at the stated rates %(rates)s"
AT_RATE = "Cheaters answer yes at the stated rate %(rate)s"
ANYTHING = "Cheaters may answer anything, at any rate"
MODELS = (ALWAYS_NO, ALWAYS_YES, ALWAYS, AT_RATES, AT_RATE, ANYTHING)
"""The beginnings of a sentence, which the design completes."""

ALIKE = "%(model)s, alike in every arm and subsample."
ALIKE_IN_A_SURVEY = "%(model)s, alike in every subsample."
AS_HONEST = (
    "%(model)s, alike in every arm and subsample: as often as some honest people would, so that this design cannot tell the two apart and "
    "only honest share times effect is determined."
)
AS_HONEST_IN_A_SURVEY = (
    "%(model)s, alike in every subsample: as often as some honest people would, so that this design cannot tell the two apart and nothing "
    "but bounds of the honest share and the prevalence are determined."
)
UNKNOWN_YES = (
    "Cheaters answer alike in every arm and subsample, but how often they say yes is unknown: only honest share times effect is "
    "determined, the honest share and the effect lie between bounds."
)
UNKNOWN_ANSWERS = (
    "Cheaters answer alike in every arm and subsample, but how often they give each answer is unknown: only honest share times effect is "
    "determined, the honest share and the effect lie between bounds."
)
UNKNOWN_YES_IN_A_SURVEY = (
    "Cheaters answer alike in every subsample, but how often they say yes is unknown: nothing but bounds of the honest share and the "
    "prevalence are determined."
)
UNKNOWN_ANSWERS_IN_A_SURVEY = (
    "Cheaters answer alike in every subsample, but how often they give each answer is unknown: nothing but bounds of the honest share and "
    "the prevalence are determined."
)
ARM_SPECIFIC = "Cheaters may answer differently in each arm, but alike in every subsample of an arm."
EVERYBODY_FOLLOWS = "Everybody who answered with the die followed it; this design cannot tell how often people said yes otherwise."
ALL = (
    *(UNKNOWN_YES, UNKNOWN_ANSWERS, UNKNOWN_YES_IN_A_SURVEY, UNKNOWN_ANSWERS_IN_A_SURVEY, ARM_SPECIFIC, EVERYBODY_FOLLOWS),
    *(AS_HONEST, AS_HONEST_IN_A_SURVEY, ALIKE, ALIKE_IN_A_SURVEY),
)


def found_again(assumption: str) -> Sentence | None:
    """The sentence of an assumption and its values, of which the model is a sentence itself; None for any other text.

    Parameters
    ----------
    assumption : str

    Returns
    -------
    Sentence or None

    Examples
    --------
    >>> found_again("Cheaters always answer no, alike in every subsample.").values
    {'model': Sentence(words='Cheaters always answer no', values={})}
    >>> found_again("something else")
    """
    if (found := found_among(ALL, assumption)) is None or not found.values:
        return found
    model = found_among(MODELS, str(found.values["model"]))
    return None if model is None else Sentence(found.words, {"model": model})
