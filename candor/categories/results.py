"""Results of questions with two to six answers: frozen values whose ``asdict`` is the JSON that is stored and served."""

from __future__ import annotations

from dataclasses import dataclass

from candor.estimators.missing_answers import MissingAnswers
from candor.results import AssignmentInference, CheaterProportion, HonestTimesEffect, Interval, ModelTest, SpecificationTest

CATEGORY, AT_LEAST, MEAN_SCORE = "category", "at_least", "mean_score"
"""Kinds of numbers: the share of one answer; of this answer and all above it; and the mean of the scores."""
EVERYBODY = "all arms"
"""The arm of numbers about everybody, whatever their arm. No arm of a study file has a space in its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryPrevalence:
    """One number about the true answers of honest people in one arm.

    ``measure`` is ``"category"``, ``"at_least"`` or ``"mean_score"``; ``category`` is the answer, None of a mean score. ``value`` is the
    estimate, or the most likely possible one where that lies outside its limits; ``standard_error`` belongs to the estimate.
    """

    arm: str
    measure: str
    category: str | None
    value: float | None
    standard_error: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryEffect:
    """One number about honest people in a treatment arm, minus that in the control arm.

    ``interval`` is the shadow of the likelihood region, with covariates and of clusters Fieller's; ``wald`` stands beside it. ``p_value``
    tests that there is no effect on this number; ``adjusted_p_value`` is Holm's over all numbers of this measure and all contrasts.
    ``honest_times_effect`` needs no honest share.
    """

    treatment: str
    control: str
    measure: str
    category: str | None
    value: float | None
    standard_error: float | None
    interval: Interval | None
    wald: Interval | None
    p_value: float | None
    adjusted_p_value: float | None
    honest_times_effect: HonestTimesEffect


@dataclass(frozen=True, slots=True, kw_only=True)
class NoEffectTest:
    """χ² of no effect on any category of one contrast; ``adjusted_p_value`` is Holm's over all contrasts.

    The p-value of clusters comes from F with ``df`` and the contrast's degrees of freedom.
    """

    treatment: str
    control: str
    statistic: float
    df: int
    p_value: float
    adjusted_p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedCategories:
    """The tests and effects of one question with covariates, in the order of those without.

    ``for_publication`` is always False: covariates are not protected by the die.
    """

    no_effect: tuple[NoEffectTest, ...]
    effects: tuple[CategoryEffect, ...]
    specification_test: SpecificationTest | None
    notes: tuple[str, ...]
    for_publication: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryOutcome:
    """Everything that is said about one question with categories.

    ``identified`` says whether the cheater proportion and the effects follow from the design under its cheater model, ``assumption`` on
    what that rests. Where they do not, values are None and intervals hold all that design and chance leave open. ``scores`` is empty
    without an order. ``model_test`` says whether any shares between 0 and 1 explain the answers; when none do, values are None and
    intervals ``"empty"``.

    Clusters that were assigned as a whole, and strata, have an ``assignment``, and neither model test nor prevalences.
    """

    n: int
    epsilon: float | None
    categories: tuple[str, ...]
    scores: tuple[float, ...]
    identified: bool
    assumption: str
    cheater_proportion: CheaterProportion
    no_effect: tuple[NoEffectTest, ...]
    effects: tuple[CategoryEffect, ...]
    prevalence: tuple[CategoryPrevalence, ...]
    model_test: ModelTest | None
    specification_test: SpecificationTest | None
    notes: tuple[str, ...]
    missing_answers: MissingAnswers | None = None
    with_covariates: AdjustedCategories | None = None
    assignment: AssignmentInference | None = None
