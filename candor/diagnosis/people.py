"""The people of a diagnosis: how some of them cheat in each arm, and who leaves before the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from candor.arguments import share_in_arm
from candor.designs.design import Design
from candor.errors import MethodError
from candor.planning.margins import MOST_PARTICIPANTS
from candor.planning.simulation import Behaviour, yes_probabilities

Array = NDArray[np.float64]


class Cheating(StrEnum):
    """The ways in which people do not follow the die."""

    NONE = "none"
    ALWAYS_NO = "always_no"
    RANDOM = "random"
    OPPOSITE = "opposite"
    REFUSE_FORCED_YES = "refuse_forced_yes"
    TRUTHFUL = "truthful"
    ARM_DEPENDENT = "arm_dependent"


class DropOut(StrEnum):
    """The people who leave: nobody; anybody; people of treatment arms; people of treatment arms with a true "yes".

    In a survey everybody counts as treated.
    """

    NONE = "none"
    ANYBODY = "anybody"
    TREATED = "treated"
    TREATED_YES = "treated_yes"


# By cheating, what cheaters of the control arm and of the treatment arms do.
BEHAVIOURS: Mapping[Cheating, tuple[Behaviour, Behaviour]] = MappingProxyType(
    {
        Cheating.NONE: (Behaviour.HONEST, Behaviour.HONEST),
        Cheating.ALWAYS_NO: (Behaviour.ALWAYS_NO, Behaviour.ALWAYS_NO),
        Cheating.RANDOM: (Behaviour.RANDOM, Behaviour.RANDOM),
        Cheating.OPPOSITE: (Behaviour.OPPOSITE, Behaviour.OPPOSITE),
        Cheating.REFUSE_FORCED_YES: (Behaviour.REFUSE_FORCED_YES, Behaviour.REFUSE_FORCED_YES),
        Cheating.TRUTHFUL: (Behaviour.TRUTHFUL, Behaviour.TRUTHFUL),
        Cheating.ARM_DEPENDENT: (Behaviour.ALWAYS_NO, Behaviour.RANDOM),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Expectations that all settings of a diagnosis share.

    Attributes
    ----------
    n : int
        People who are assigned to an arm.
    prevalence : float
        Share of true "yes" in the control arm.
    effects : tuple of float
        Difference to control, by treatment arm in the design's order.
    cheater_proportion : float
        Share of cheaters, where anybody cheats.
    drop_out : float
        Share of those who may leave who do, where anybody leaves.
    cluster_size : float
        People in a section that is assigned as a whole; 1: everybody is assigned alone.
    intraclass_correlation : float
        How alike the true answers of two people of a section are, in [0, 1].
    """

    n: int
    prevalence: float
    effects: tuple[float, ...]
    cheater_proportion: float
    drop_out: float
    cluster_size: float = 1
    intraclass_correlation: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.n <= MOST_PARTICIPANTS:
            raise MethodError(f"the number of people must lie between 1 and {MOST_PARTICIPANTS}, found {self.n}")
        if not self.cluster_size >= 1:
            raise MethodError(f"a section has at least 1 person, found {self.cluster_size:g}")
        for name in ("prevalence", "cheater_proportion", "drop_out", "intraclass_correlation"):
            if not 0 <= (share := getattr(self, name)) <= 1:
                raise MethodError(f"every {name.replace('_', ' ')} must lie between 0 and 1, found {share:.6g}")
        if self.cheater_proportion == 1:
            raise MethodError("nothing can be found when nobody is honest: the cheater proportion must be below 1")
        for effect in self.effects:
            if not 0 <= (treated := share_in_arm(self.prevalence, effect)) <= 1:
                raise MethodError(f"every prevalence must lie between 0 and 1, found {treated:.6g}")


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to cheat with one way to leave."""

    cheating: Cheating
    drop_out: DropOut


def answer_probabilities(design: Design, expected: Expected, setting: Setting) -> Array:
    """Exact probability of being in an arm and a subsample, staying, and reporting no or yes; shape (arms, subsamples, 2).

    Notes
    -----
    Σ over behaviour, truth and instruction of P(a) P(s) P(behaviour) P(truth ∣ a) P(stays ∣ a, truth) P(die ∣ s) P(report ∣ …). The rest
    of the probability is that of people who left.

    Examples
    --------
    Nobody cheats. Three in five of the treated have a true "yes", and half of these leave: 0.7 of that arm stay.

    >>> design = Design.of(
    ...     arms=("control", "treatment"), control="control",
    ...     subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> expected = Expected(n=100, prevalence=0.4, effects=(0.2,), cheater_proportion=0.1, drop_out=0.5)
    >>> answer_probabilities(design, expected, Setting(Cheating.NONE, DropOut.TREATED_YES)).sum(axis=(1, 2)).round(6).tolist()
    [0.5, 0.35]
    """
    yes = prevalences(design, expected)
    of_people = np.stack([1 - yes, yes], axis=-1) * design.arm_shares[:, None]
    return np.asarray(np.einsum("at,astr->asr", of_people, probabilities_given_truth(design, expected, setting)))


def prevalences(design: Design, expected: Expected) -> Array:
    """The expected prevalence of every arm, shape (K,)."""
    yes = np.full(design.shape[0], expected.prevalence)
    yes[list(design.treatment_indexes)] = [share_in_arm(expected.prevalence, effect) for effect in expected.effects]
    return yes


def probabilities_given_truth(design: Design, expected: Expected, setting: Setting) -> Array:
    """The same for somebody of an arm with a true no and with a true yes; shape (arms, subsamples, 2, 2), report last."""
    instructions = np.column_stack([design.forced_yes, design.forced_no, design.truth])
    share = 0.0 if setting.cheating == Cheating.NONE else expected.cheater_proportion
    found = np.empty((*design.shape, 2, 2))
    for arm in range(design.shape[0]):
        treated = arm != design.control_index
        cheats = yes_probabilities(BEHAVIOURS[setting.cheating][treated])
        reports_yes = instructions @ ((1 - share) * yes_probabilities(Behaviour.HONEST) + share * cheats)
        stay = _staying(expected.drop_out, setting.drop_out, treated=treated or design.is_survey)
        found[arm] = np.stack([1 - reports_yes, reports_yes], axis=-1) * stay[:, None] * design.subsample_shares[:, None, None]
    return found


def _staying(share: float, drop_out: DropOut, *, treated: bool) -> Array:
    """Shares who stay, of people with a true "no" and of those with a true "yes"."""
    if drop_out == DropOut.ANYBODY or (drop_out == DropOut.TREATED and treated):
        return np.array([1 - share, 1 - share])
    return np.array([1.0, 1 - share]) if drop_out == DropOut.TREATED_YES and treated else np.ones(2)
