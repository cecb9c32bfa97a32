"""Simulated participants: what they truly think, whether they follow the die, and what they therefore report.

One table decides everything: for each way to behave, the probability of reporting "yes" given what the die said and what is true.
The bots that walk the real journey read it for one person at a time, `simulate_trial` for a million at once, and
`cell_probabilities` sums over it exactly, so the three can be checked against one another.

Everything takes a `numpy.random.Generator`: it simulates people. It never rolls the die of a real participant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit

from candor.arguments import share_in_arm
from candor.designs.design import Design
from candor.errors import MethodError

Array = NDArray[np.float64]
Labels = NDArray[np.intp]
Flags = NDArray[np.bool_]


class Instruction(StrEnum):
    """The die's instruction to a participant, in the words of `DieDesign.instruction`."""

    YES = "yes"
    NO = "no"
    TRUTH = "truth"


class Behaviour(StrEnum):
    """A participant's reaction to the instruction. All but `HONEST` are cheaters."""

    HONEST = "honest"
    ALWAYS_NO = "always_no"
    ALWAYS_YES = "always_yes"
    RANDOM = "random"
    OPPOSITE = "opposite"
    TRUTHFUL = "truthful"
    REFUSE_FORCED_YES = "refuse_forced_yes"
    REFUSE_FORCED_NO = "refuse_forced_no"


INSTRUCTIONS = tuple(Instruction)
STRONGEST = 1000.0
"""The largest effect of a background variable: almost everybody's answer follows from far weaker ones."""
NO_BACKGROUND: Mapping[str, float] = MappingProxyType({})

_YES_GIVEN_INSTRUCTION_AND_TRUTH: Mapping[Behaviour, tuple[tuple[float, float], ...]] = MappingProxyType(
    {
        #                     die: yes    die: no     die: truthful    (truth is no, truth is yes)
        Behaviour.HONEST: ((1, 1), (0, 0), (0, 1)),
        Behaviour.ALWAYS_NO: ((0, 0), (0, 0), (0, 0)),
        Behaviour.ALWAYS_YES: ((1, 1), (1, 1), (1, 1)),
        Behaviour.RANDOM: ((0.5, 0.5), (0.5, 0.5), (0.5, 0.5)),
        Behaviour.OPPOSITE: ((1, 0), (1, 0), (1, 0)),
        Behaviour.TRUTHFUL: ((0, 1), (0, 1), (0, 1)),
        Behaviour.REFUSE_FORCED_YES: ((0, 0), (0, 0), (0, 1)),
        Behaviour.REFUSE_FORCED_NO: ((1, 1), (1, 1), (0, 1)),
    }
)


def yes_probabilities(behaviour: Behaviour) -> Array:
    """Probability of reporting "yes" by instruction (rows: yes, no, truthful) and truth (columns: no, yes).

    Examples
    --------
    >>> yes_probabilities(Behaviour.REFUSE_FORCED_YES).tolist()
    [[0.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    """
    return np.array(_YES_GIVEN_INSTRUCTION_AND_TRUTH[behaviour], dtype=float)


def reported_answer(truth: bool, *, instruction: Instruction | str, behaviour: Behaviour | str, rng: np.random.Generator) -> bool:
    """Answer that one participant submits.

    Parameters
    ----------
    truth : bool
        The participant's true answer.
    instruction : Instruction
        What the die says: "yes", "no" or "truth".
    behaviour : Behaviour
        What the participant makes of it.
    rng : numpy.random.Generator
        Used by behaviours that answer at random.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> reported_answer(False, instruction=Instruction.YES, behaviour=Behaviour.HONEST, rng=rng)
    True
    >>> reported_answer(True, instruction=Instruction.YES, behaviour=Behaviour.OPPOSITE, rng=rng)
    False
    """
    probability = _YES_GIVEN_INSTRUCTION_AND_TRUTH[Behaviour(behaviour)][INSTRUCTIONS.index(Instruction(instruction))][int(truth)]
    return bool(rng.random() < probability)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedPerson:
    """One person before assignment: their behaviour, and the quantile that fixes their answer in every arm.

    Attributes
    ----------
    behaviour : Behaviour
        Honest, or the cheaters' behaviour of the model the person was drawn from.
    quantile : float
        Uniform on [0, 1). The true answer is "yes" in every arm whose "yes" probability exceeds it, so a positive effect
        changes nobody's answer from "yes" to "no".
    """

    behaviour: Behaviour
    quantile: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentModel:
    """The truth about one yes/no question in a simulated population.

    Attributes
    ----------
    prevalence : float
        Proportion of true "yes" in the control arm.
    effects : mapping of str to float
        Difference in prevalence between an arm and control, by arm; an arm that is not named has effect 0.
    cheater_proportion : float
        Share of people who behave as `cheater_behaviour` says; independent of arm, subsample and background.
    cheater_behaviour : Behaviour
        What those people do.
    background_effects : mapping of str to float
        Change of the log-odds of a true "yes" per unit of a background variable. The variables are independent standard normal;
        the intercept is set so that the marginal prevalence of every arm stays exactly what `prevalence` and `effects` say.

    Examples
    --------
    >>> model = LatentModel(prevalence=0.4, effects={"treatment": 0.2}, cheater_proportion=0.1)
    >>> round(model.prevalence_in("treatment"), 3), model.prevalence_in("control")
    (0.6, 0.4)
    """

    prevalence: float
    effects: Mapping[str, float] = field(default_factory=dict)
    cheater_proportion: float = 0.0
    cheater_behaviour: Behaviour = Behaviour.RANDOM
    background_effects: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for arm in (None, *self.effects):
            prevalence = self.prevalence if arm is None else self.prevalence_in(arm)
            if not 0 <= prevalence <= 1:
                where = "the control arm" if arm is None else f"arm {arm!r}"
                raise MethodError(f"the prevalence in {where} must lie between 0 and 1, found {prevalence:.6g}")
        if not 0 <= self.cheater_proportion <= 1:
            raise MethodError(f"the cheater proportion must lie between 0 and 1, found {self.cheater_proportion:.6g}")
        for name, effect in self.background_effects.items():
            if not abs(effect) <= STRONGEST:
                raise MethodError(f"the effect of {name!r} on the log-odds must lie within ±{STRONGEST:g}, found {effect:.6g}")

    def prevalence_in(self, arm: str) -> float:
        """Proportion of true "yes" in an arm."""
        return share_in_arm(self.prevalence, self.effects.get(arm, 0.0))

    def yes_probability(self, arm: str, background: Mapping[str, float] | Mapping[str, Array] = NO_BACKGROUND) -> float | Array:
        """Probability of a true "yes" in an arm for somebody with this background (unknown variables count as 0)."""
        prevalence = self.prevalence_in(arm)
        shifts: list[float | Array] = [effect * background[name] for name, effect in self.background_effects.items() if name in background]
        if not self.background_effects or prevalence in (0.0, 1.0):
            return prevalence
        spread = float(np.sqrt(sum(effect**2 for effect in self.background_effects.values())))
        probability: float | Array = expit(_intercept(prevalence, spread) + sum(shifts))
        return probability

    def draw_person(self, *, rng: np.random.Generator) -> SimulatedPerson:
        """Draw somebody who is to answer this question."""
        cheats = rng.random() < self.cheater_proportion
        return SimulatedPerson(behaviour=self.cheater_behaviour if cheats else Behaviour.HONEST, quantile=float(rng.random()))

    def truth(self, person: SimulatedPerson, *, arm: str, background: Mapping[str, float] = NO_BACKGROUND) -> bool:
        """True answer of a person in an arm.

        Examples
        --------
        >>> model = LatentModel(prevalence=0.4, effects={"treatment": 0.2})
        >>> person = SimulatedPerson(behaviour=Behaviour.HONEST, quantile=0.5)
        >>> model.truth(person, arm="control"), model.truth(person, arm="treatment")
        (False, True)
        """
        return bool(person.quantile < self.yes_probability(arm, background))


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedTrial:
    """A simulated trial: what the investigator sees, and beside it what nobody would ever see.

    Attributes
    ----------
    arm, subsample : ndarray of int, shape (n,)
        Positions in the design's arms and subsamples.
    reported : ndarray of bool, shape (n,)
        Reported answers.
    covariates : dict of str to ndarray of float, shape (n,)
        Background variables.
    truth, cheats : ndarray of bool, shape (n,)
        Latent: the true answers, and who does not follow the die.
    """

    arm: Labels
    subsample: Labels
    reported: Flags
    covariates: Mapping[str, Array]
    truth: Flags
    cheats: Flags


def simulate_trial(design: Design, model: LatentModel, *, n: int, rng: np.random.Generator) -> SimulatedTrial:
    """Simulate a trial of n participants, each randomised independently.

    Parameters
    ----------
    design : Design
        Arms, subsamples, their probabilities and the forced responses.
    model : LatentModel
        The truth about the question.
    n : int
        Number of participants.
    rng : numpy.random.Generator
        Source of all randomness; the same state gives the same trial.

    Returns
    -------
    SimulatedTrial

    Raises
    ------
    MethodError
        When n is negative, or the model names an arm that the design does not have.

    References
    ----------
    Kancharla, M. & Kang, H. (2021). A robust, differentially private randomized experiment for evaluating online educational programs with
    sensitive student data.

    Examples
    --------
    >>> design = Design.of(arms=("control", "treatment"), control="control", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> trial = simulate_trial(design, LatentModel(prevalence=0.4, cheater_proportion=0.1), n=1000, rng=np.random.default_rng(1))
    >>> trial.reported.shape, 0.05 < trial.cheats.mean() < 0.15
    ((1000,), np.True_)
    """
    if n < 0:
        raise MethodError(f"the number of participants must not be negative, found {n}")
    _refuse_unknown_arms(design, model)
    arm = rng.choice(len(design.arms), size=n, p=design.arm_shares)
    subsample = rng.choice(len(design.subsamples), size=n, p=design.subsample_shares)
    covariates = {name: rng.standard_normal(n) for name in model.background_effects}
    chances = np.empty(n)
    for index, label in enumerate(design.arms):
        here = arm == index
        chances[here] = model.yes_probability(label, {name: values[here] for name, values in covariates.items()})
    truth = rng.random(n) < chances
    cheats = rng.random(n) < model.cheater_proportion
    instruction = (rng.random(n)[:, None] > np.cumsum(_instruction_probabilities(design), axis=1)[subsample, :2]).sum(axis=1)
    answers = np.stack([yes_probabilities(Behaviour.HONEST), yes_probabilities(model.cheater_behaviour)])
    reported = rng.random(n) < answers[cheats.astype(int), instruction, truth.astype(int)]
    return SimulatedTrial(arm=arm, subsample=subsample, reported=reported, covariates=covariates, truth=truth, cheats=cheats)


def cell_probabilities(design: Design, model: LatentModel) -> Array:
    """Exact probability of a reported "yes", shape (arms, subsamples).

    Notes
    -----
    Σ over behaviour, die and truth of P(behaviour) P(die ∣ s) P(truth ∣ a) P(yes ∣ behaviour, die, truth): an enumeration, which
    does not use the formula m(a,s) = x(tₛpₐ + f1ₛ) + (1−x)q that the estimators rest on.

    Examples
    --------
    One face of six "yes", two "no", three "truth", and the reverse; nobody cheats, and 40 % would truly say "yes".

    >>> design = Design.of(
    ...     arms=("control", "treatment"), control="control",
    ...     subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> cell_probabilities(design, LatentModel(prevalence=0.4, effects={"treatment": 0.2})).round(4).tolist()
    [[0.3667, 0.5333], [0.4667, 0.6333]]
    """
    _refuse_unknown_arms(design, model)
    prevalence = np.array([model.prevalence_in(arm) for arm in design.arms])
    truth = np.column_stack([1 - prevalence, prevalence])
    mixture = (1 - model.cheater_proportion) * yes_probabilities(Behaviour.HONEST) + model.cheater_proportion * yes_probabilities(
        model.cheater_behaviour
    )
    cells: Array = np.einsum("si,ay,iy->as", _instruction_probabilities(design), truth, mixture)
    return cells


def simulate_counts(design: Design, model: LatentModel, *, n: int, trials: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Simulate the counts of many trials without covariates, at a cost that does not depend on their size.

    Parameters
    ----------
    design : Design
        Arms, subsamples, their probabilities and the forced responses.
    model : LatentModel
        The truth about the question.
    n : int
        Number of participants of each trial.
    trials : int
        Number of trials.
    rng : numpy.random.Generator
        Source of all randomness.

    Returns
    -------
    ndarray of int, shape (trials, arms, subsamples, 2)
        People by reported answer, last axis (no, yes).

    Raises
    ------
    MethodError
        When the model names an arm that the design does not have.

    Notes
    -----
    One multinomial draw per trial, from `cell_probabilities`.

    References
    ----------
    Kancharla, M. & Kang, H. (2021). A robust, differentially private randomized experiment for evaluating online educational programs with
    sensitive student data.

    Examples
    --------
    >>> design = Design.of(arms=("control", "treatment"), control="control", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> counts = simulate_counts(design, LatentModel(prevalence=0.4), n=500, trials=3, rng=np.random.default_rng(1))
    >>> counts.shape, counts.sum(axis=(1, 2, 3)).tolist()
    ((3, 2, 2, 2), [500, 500, 500])
    """
    yes = cell_probabilities(design, model)
    shares = np.outer(design.arm_shares, design.subsample_shares)
    cells = np.stack([shares * (1 - yes), shares * yes], axis=-1)
    return rng.multinomial(n, cells.ravel() / cells.sum(), size=trials).reshape(trials, *cells.shape).astype(np.int64)


def _instruction_probabilities(design: Design) -> Array:
    """P(die says yes, no, truthful) by subsample, shape (subsamples, 3)."""
    return np.column_stack([design.forced_yes, design.forced_no, design.truth])


def _refuse_unknown_arms(design: Design, model: LatentModel) -> None:
    unknown = sorted(set(model.effects) - set(design.arms))
    if unknown:
        raise MethodError(f"the model names arm {unknown[0]!r}; the design has {', '.join(map(repr, design.arms))}")
    if model.effects.get(design.control, 0.0) != 0.0:
        raise MethodError(f"the control arm {design.control!r} has effect 0 by definition, found {model.effects[design.control]:.6g}")


@lru_cache(maxsize=1000)
def _intercept(prevalence: float, spread: float) -> float:
    """Log-odds at background 0 such that E[expit(intercept + spread·Z)] = prevalence for Z standard normal.

    The steps are short beside the width of expit, which falls with the spread; so the trapezoidal rule is exact to many digits.
    """
    nodes = np.linspace(-10, 10, 20_001)
    weights = np.exp(-(nodes**2) / 2)
    weights /= weights.sum()
    reach = abs(float(logit(prevalence))) + 10 * spread + 1
    return float(brentq(lambda intercept: weights @ expit(intercept + spread * nodes) - prevalence, -reach, reach))
