"""A robust, private trial's design: arms, subsamples, the responses that each subsample's die forces, and the assumption on cheaters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from candor.designs.categories import check_forced_response, checked_categories, checked_scores, forced_response
from candor.designs.forced_responses import YES_NO, CheaterModel, ForcedResponse, Number, exact_probability
from candor.designs.identification import Identification, identify, truth_is_equal
from candor.errors import DesignError, what_came

FloatArray = npt.NDArray[np.float64]
ANY_CHEATERS = CheaterModel(name="any")
INDIVIDUAL, CLUSTER = "individual", "cluster"

__all__ = ["CheaterModel", "Design", "FloatArray", "ForcedResponse", "Identification", "exact_probability"]


_identified = lru_cache(maxsize=256)(identify)  # exact fractions take their time, and everything asks


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A trial of K arms, or a survey of one group (K = 1), in which S random subsamples play different forced randomised responses.

    Parameters
    ----------
    arms : tuple of str
        Names of the K ≥ 1 arms; this is the order of the first axis of every count array.
    control : str
        The arm that all others are compared with; of a survey, its only arm.
    subsamples : tuple of (str, ForcedResponse)
        S ≥ 2 subsamples that do not all play the same; the order of the second axis. A mapping is accepted too.
    arm_probabilities, subsample_probabilities : tuple of Fraction
        Allocation, independent of each other; equal when left empty.
    cheater_model : CheaterModel
        What is assumed about those who do not follow the die.
    categories : tuple of str
        The 2 to 6 answers of the question, in the order of the forced answers; no and yes by default.
    scores : tuple of Fraction
        Of ordered categories: one increasing number each. Empty where they have no order.
    reanalysis : bool
        Accept ε = ∞, for data that others have already collected and published. The platform never collects under such a design.
    in_clusters : bool
        Chance gave an arm to whole clusters, such as sections, so that people in one are not independent.

    Raises
    ------
    DesignError
        When the design protects nobody (ε = ∞), asks nobody for the truth, or teaches nothing (no arm, one subsample, equal subsamples).

    Examples
    --------
    >>> design = Design.of(
    ...     arms=("control", "treatment"), control="control",
    ...     subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
    ... )
    >>> design.kind, round(design.epsilon, 4), design.identification.effect
    ('mirrored', 1.3863, True)
    >>> round(design.composed_epsilon(4), 4)
    5.5452
    """

    arms: tuple[str, ...]
    control: str
    subsamples: tuple[tuple[str, ForcedResponse], ...]
    arm_probabilities: tuple[Fraction, ...] = ()
    subsample_probabilities: tuple[Fraction, ...] = ()
    cheater_model: CheaterModel = ANY_CHEATERS
    categories: tuple[str, ...] = YES_NO
    scores: tuple[Fraction, ...] = ()
    reanalysis: bool = False
    in_clusters: bool = False

    def __post_init__(self) -> None:
        pairs = self.subsamples.items() if isinstance(self.subsamples, Mapping) else self.subsamples
        object.__setattr__(self, "arms", tuple(self.arms))
        object.__setattr__(self, "subsamples", tuple((name, forced) for name, forced in pairs))
        _require_distinct_names(self.arms, what="arms", least=1)
        _require_distinct_names(self.subsample_names, what="subsamples", least=2)
        if self.control not in self.arms:
            raise DesignError(f"the control must be one of the arms {', '.join(self.arms)}, not {what_came(self.control)}")
        for name, size in (("arm_probabilities", len(self.arms)), ("subsample_probabilities", len(self.subsamples))):
            object.__setattr__(self, name, _allocation(getattr(self, name), size=size, name=name))
        object.__setattr__(self, "categories", checked_categories(self.categories))
        object.__setattr__(self, "scores", checked_scores(self.scores, categories=self.categories))
        if self.is_yes_no:
            object.__setattr__(self, "cheater_model", self.cheater_model.for_yes_no())
        self.cheater_model.over(self.categories)
        for name, forced in self.subsamples:
            check_forced_response(forced, categories=self.categories, name=name, reanalysis=self.reanalysis)
        if len(set(self.forced_responses)) == 1:
            raise DesignError("the subsamples must play different forced responses, but all are the same: nothing tells cheaters apart")

    @classmethod
    def of(
        cls,
        *,
        arms: Sequence[str],
        control: str,
        subsamples: Mapping[str, ForcedResponse | Mapping[str, Number]],
        arm_probabilities: Sequence[Number] = (),
        subsample_probabilities: Sequence[Number] = (),
        cheater_model: object = "any",
        categories: Sequence[str] = YES_NO,
        ordered: bool = False,
        scores: Sequence[Number] = (),
        reanalysis: bool = False,
        in_clusters: bool = False,
    ) -> Design:
        """Build from plain strings, numbers and mappings, as in documents and tests; `ordered` without `scores` means 0, 1, 2, …"""
        answers = checked_categories(categories)
        return cls(
            arms=tuple(arms),
            control=control,
            subsamples=tuple((name, forced_response(rule, categories=answers, name=name)) for name, rule in subsamples.items()),
            categories=answers,
            scores=checked_scores(scores or (range(len(answers)) if ordered else ()), categories=answers),
            arm_probabilities=tuple(exact_probability(one, name="arm probability") for one in arm_probabilities),
            subsample_probabilities=tuple(exact_probability(one, name="subsample probability") for one in subsample_probabilities),
            cheater_model=cheater_model if isinstance(cheater_model, CheaterModel) else CheaterModel.from_document(cheater_model),
            reanalysis=reanalysis,
            in_clusters=in_clusters,
        )

    @classmethod
    def from_document(cls, document: object) -> Design:
        """Read a DESIGN.json document; every complaint names the key.

        Notes
        -----
        Keys: ``arms``, ``control``, ``subsamples``; optional ``cheater_model`` (default "any"), ``allocation``
        ``{"arms": {name: probability}, "subsamples": {name: probability}, "unit": "individual" or "cluster"}`` (default equal, and
        individual) and ``reanalysis``. With ``categories``, a list
        of 2 to 6 answers, every subsample gives each of them its forced probability; ``ordered`` or ``scores`` say that they have an order.
        """
        if not isinstance(document, Mapping):
            raise DesignError(f"a design must be a JSON object, not {type(document).__name__}")
        known = {"arms", "control", "subsamples", "cheater_model", "allocation", "categories", "ordered", "scores", "reanalysis"}
        if missing := {"arms", "control", "subsamples"} - set(document):
            raise DesignError(f"the design lacks {', '.join(sorted(missing))}")
        if unknown := set(document) - known:
            raise DesignError(f"the design has unknown keys {', '.join(sorted(map(str, unknown)))}; it may have {', '.join(sorted(known))}")
        arms, subsamples = document["arms"], document["subsamples"]
        if not isinstance(arms, Sequence) or isinstance(arms, str) or not all(isinstance(arm, str) for arm in arms):
            raise DesignError(f"arms must be a list of names, not {what_came(arms)}")
        if not isinstance(subsamples, Mapping):
            raise DesignError(f"subsamples must be an object of forced responses by name, not {what_came(subsamples)}")
        reanalysis, ordered = document.get("reanalysis", False), document.get("ordered", False)
        for name, value in (("reanalysis", reanalysis), ("ordered", ordered)):
            if not isinstance(value, bool):
                raise DesignError(f"{name} must be true or false, not {what_came(value)}")
        allocation = document.get("allocation") or {}
        if not isinstance(allocation, Mapping) or set(allocation) - {"arms", "subsamples", "unit"}:
            raise DesignError(f"allocation must be an object with 'arms', 'subsamples' and 'unit', not {what_came(allocation)}")
        if (unit := allocation.get("unit", INDIVIDUAL)) not in (INDIVIDUAL, CLUSTER):
            raise DesignError(f"allocation: unit must be {INDIVIDUAL!r} or {CLUSTER!r}, not {what_came(unit)}")
        return cls.of(
            arms=arms,
            control=document["control"],
            subsamples=subsamples,
            arm_probabilities=_in_order(allocation.get("arms"), names=tuple(arms), what="allocation of arms"),
            subsample_probabilities=_in_order(allocation.get("subsamples"), names=tuple(subsamples), what="allocation of subsamples"),
            cheater_model=document.get("cheater_model", "any"),
            categories=document.get("categories", YES_NO),
            ordered=ordered,
            scores=document.get("scores", ()),
            reanalysis=reanalysis,
            in_clusters=unit == CLUSTER,
        )

    def to_document(self) -> dict[str, object]:
        """The DESIGN.json document, with exact fractions; ``from_document`` reads it back to an equal design."""
        document: dict[str, object] = {
            "arms": list(self.arms),
            "control": self.control,
            "subsamples": {name: forced.to_document(self.categories) for name, forced in self.subsamples},
            "cheater_model": self.cheater_model.to_document(),
            "allocation": {
                "arms": {name: str(share) for name, share in zip(self.arms, self.arm_probabilities, strict=True)},
                "subsamples": {name: str(share) for name, share in zip(self.subsample_names, self.subsample_probabilities, strict=True)},
                **({"unit": CLUSTER} if self.in_clusters else {}),
            },
        }
        named = {} if self.is_yes_no else {"categories": list(self.categories)}
        scores = {"scores": [str(score) for score in self.scores]} if self.scores else {}
        return document | named | scores | ({"reanalysis": True} if self.reanalysis else {})

    @property
    def subsample_names(self) -> tuple[str, ...]:
        """Names of the S subsamples, in order."""
        return tuple(name for name, _ in self.subsamples)

    @property
    def forced_responses(self) -> tuple[ForcedResponse, ...]:
        """The forced responses of the S subsamples, in order."""
        return tuple(forced for _, forced in self.subsamples)

    @property
    def shape(self) -> tuple[int, int]:
        """(K, S), the number of arms and of subsamples."""
        return len(self.arms), len(self.subsamples)

    @property
    def control_index(self) -> int:
        """Where the control stands among the arms."""
        return self.arms.index(self.control)

    @property
    def treatment_indexes(self) -> tuple[int, ...]:
        """Where the K − 1 treatment arms stand, in order; contrasts everywhere come in this order."""
        return tuple(index for index, arm in enumerate(self.arms) if arm != self.control)

    @property
    def treatments(self) -> tuple[str, ...]:
        """Names of the K − 1 treatment arms, in the order of the contrasts."""
        return tuple(self.arms[index] for index in self.treatment_indexes)

    @property
    def truth(self) -> FloatArray:
        """t_s, shape (S,)."""
        return np.array([float(forced.truth) for forced in self.forced_responses])

    @property
    def forced_yes(self) -> FloatArray:
        """f1_s, shape (S,); only of a yes/no question."""
        return self.of_yes_no().forced_answers[:, 1]

    @property
    def forced_no(self) -> FloatArray:
        """f0_s, shape (S,); only of a yes/no question."""
        return self.of_yes_no().forced_answers[:, 0]

    @property
    def forced_answers(self) -> FloatArray:
        """f_cs, shape (S, C)."""
        return np.array([[float(one) for one in forced.forced] for forced in self.forced_responses])

    @property
    def cheater_shares(self) -> FloatArray | None:
        """q_c, how often cheaters give each answer, shape (C,); None when it is not known."""
        stated = self.cheater_model.over(self.categories)
        return None if stated is None else np.array([float(one) for one in stated])

    @property
    def is_yes_no(self) -> bool:
        """Whether the answers are no and yes, for which every method is made."""
        return self.categories == YES_NO

    def of_yes_no(self) -> Design:
        """This design, if its answers are no and yes.

        Raises
        ------
        DesignError
            When it names other categories.
        """
        if not self.is_yes_no:
            raise DesignError(
                f"this is computed for yes/no questions, but the design has the categories {', '.join(self.categories)}: "
                "see candor.estimate and candor.categories"
            )
        return self

    def of_one_answer(self, category: str) -> Design:
        """The design of the yes/no question whether somebody gives this answer: yes stands for it, no for every other one.

        Raises
        ------
        DesignError
            When there is no such category.

        Notes
        -----
        P(answer c) = x(t_s·p_ac + f_cs) + (1 − x)q_c is the equation of a yes/no question with forced_yes = f_cs, forced_no = the sum of
        the other forced answers, and cheaters who say yes with q_c. All that is known of yes/no questions so holds for one answer.

        Examples
        --------
        >>> design = Design.of(arms=("a", "b"), control="a", categories=("never", "once", "often"), cheater_model={"always": "never"},
        ...     subsamples={"1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}})
        >>> one = design.of_one_answer("often")
        >>> one.forced_yes.tolist(), one.forced_no.tolist(), one.cheater_model.name
        ([0.375, 0.125], [0.25, 0.5], 'always_no')
        """
        if category not in self.categories:
            raise DesignError(f"there is no answer {category!r}; there are {', '.join(self.categories)}")
        place, stated = self.categories.index(category), self.cheater_model.over(self.categories)
        cheaters = self.cheater_model
        if stated is not None:
            cheaters = CheaterModel(name="distribution", shares=(("no", 1 - stated[place]), ("yes", stated[place])))
        forced = [(name, one.forced[place], 1 - one.truth - one.forced[place]) for name, one in self.subsamples]
        return replace(
            self,
            categories=YES_NO,
            scores=(),
            cheater_model=cheaters.for_yes_no(),
            subsamples=tuple((name, ForcedResponse(forced=(no, yes))) for name, yes, no in forced),
        )

    @property
    def arm_shares(self) -> FloatArray:
        """P(A = a), shape (K,)."""
        return np.array([float(share) for share in self.arm_probabilities])

    @property
    def subsample_shares(self) -> FloatArray:
        """P(S = s), shape (S,)."""
        return np.array([float(share) for share in self.subsample_probabilities])

    @property
    def is_survey(self) -> bool:
        """Whether there is one arm, so that nothing is compared and the prevalence is what the study asks for."""
        return len(self.arms) == 1

    @property
    def epsilon(self) -> float:
        """Privacy loss of one answer: the largest over the subsamples."""
        return max(forced.epsilon for forced in self.forced_responses)

    @property
    def kind(self) -> str:
        """``"mirrored"`` when the truth is asked equally often everywhere, otherwise by the number of subsamples."""
        if truth_is_equal(self.forced_responses):
            return "mirrored"
        return {2: "two_subsamples", 3: "three_subsamples"}.get(len(self.subsamples), "many_subsamples")

    @property
    def identification(self) -> Identification:
        """Quantities that can be estimated under the cheater model."""
        return _identified(self.forced_responses, self.cheater_model, survey=self.is_survey, categories=self.categories)

    def composed_epsilon(self, questions: int, *, rolls_per_question: Number = 1) -> float:
        """Privacy loss of one person who answers several questions: losses add.

        Parameters
        ----------
        questions : int
            Number of sensitive questions.
        rolls_per_question : number
            Fresh rolls, each with its own answer, for every question. Less than one means that questions share a roll.

        Raises
        ------
        DesignError
            When several questions share a roll: a report that mixes yes and no could then only come from "answer truthfully", so the joint
            report has ε = ∞.
        """
        if isinstance(questions, bool) or not isinstance(questions, int) or questions < 1:
            raise DesignError(f"the number of questions must be a whole number of at least 1, not {what_came(questions)}")
        rolls = Fraction(rolls_per_question)
        if rolls < 1 and questions > 1:
            raise DesignError(f"every question needs its own roll: {questions} questions with {rolls} rolls each would reveal true answers")
        if rolls.denominator != 1 or rolls < 1:
            raise DesignError(f"rolls per question must be a whole number of at least 1, not {what_came(rolls_per_question)}")
        return questions * int(rolls) * self.epsilon


def _require_distinct_names(names: Sequence[str], *, what: str, least: int) -> None:
    if len(names) < least:
        raise DesignError(f"a design needs at least {least} {what if least > 1 else what.removesuffix('s')}, found {len(names)}")
    bare = {name.strip() for name in names}
    if "" in bare:
        raise DesignError(f"all {what} need a name, found {', '.join(map(repr, names))}")
    if len(bare) < len(names):
        raise DesignError(f"the names of the {what} must differ, found {', '.join(names)}")


def _allocation(shares: Sequence[Fraction], *, size: int, name: str) -> tuple[Fraction, ...]:
    """Checked probabilities; equal when none are given. Numbers like 0.333 may miss 1 by a rounding and are then scaled."""
    if not shares:
        return (Fraction(1, size),) * size
    exact = [exact_probability(share, name=name) for share in shares]
    if len(exact) != size or min(exact) == 0 or abs(sum(exact, Fraction(0)) - 1) > Fraction(1, 100):
        raise DesignError(f"{name} must be {size} positive probabilities that add up to 1, found {', '.join(map(str, shares))}")
    total = sum(exact, Fraction(0))
    return tuple(share / total for share in exact)


def _in_order(shares: object, *, names: tuple[str, ...], what: str) -> tuple[Number, ...]:
    """Probabilities by name as a tuple in the order of the names."""
    if shares is None:
        return ()
    if not isinstance(shares, Mapping) or set(shares) != set(names):
        raise DesignError(f"the {what} must give a probability to each of {', '.join(names)}, found {what_came(shares)}")
    return tuple(shares[name] for name in names)
