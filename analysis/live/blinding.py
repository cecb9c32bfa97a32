"""Letters in place of arms, so that people who watch a study cannot tell which arm does better until it is closed.

With two arms, contrasts are given between letters in alphabetical order, so that they do not tell which arm is the control. Sizes would
tell it too: the protocol says which arm is the larger one, and participants see which letter grows. So people are counted over all arms,
and numbers of a single arm are hidden where the arms differ in size. So is the balance: a mean of 90 people is one that 270 cannot have.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import TypeVar

from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from accounts.models import User
from analysis.models import Blinding
from analysis.stored_results import (
    NAMES_NO_ARM,
    Balance,
    MarkedEffect,
    MarkedSequence,
    MarkedSequentialEffect,
    NotYet,
    QuestionEstimate,
    Results,
)
from candor.categories.results import EVERYBODY, AdjustedCategories, CategoryEffect, CategoryOutcome, CategoryPrevalence, NoEffectTest
from candor.results import Difference, HonestTimesEffect, Interval, Prevalence, SequentialPrevalence, SequentialValue
from surveys.access import Seat
from surveys.allocation.selectors import were_changed_by_hand
from surveys.definition import StudyDefinition
from surveys.models import ENDED, Study

T = TypeVar("T")
Turned = TypeVar("Turned", MarkedEffect, CategoryEffect)
Share = TypeVar("Share", Prevalence, SequentialPrevalence, CategoryPrevalence)
ByArm = TypeVar("ByArm", QuestionEstimate, MarkedSequence)
OfCategories = TypeVar("OfCategories", CategoryOutcome, AdjustedCategories)
Contrast = TypeVar("Contrast", MarkedEffect, MarkedSequentialEffect, Difference, CategoryEffect, NoEffectTest)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmNames:
    """The names of arms for one reader. `shown` holds names on pages and `files` those in files, both in display order."""

    blinded: bool
    shown: Mapping[str, str]
    files: Mapping[str, str]
    control: str
    of_one_size: bool = True

    @property
    def groups(self) -> Mapping[str, str]:
        """The names of arms where people are counted, on pages."""
        return dict.fromkeys(self.shown, _("all arms")) if self.blinded else self.shown

    @property
    def groups_in_files(self) -> Mapping[str, str]:
        return dict.fromkeys(self.files, "all") if self.blinded else self.files

    def shown_of(self, arm: str) -> str:
        """The name of an arm, or the word for all of them, on pages."""
        return _("all arms") if arm == EVERYBODY else self.shown[arm]

    @property
    def hides_contrasts(self) -> bool:
        """With three arms or more, every contrast is with the control and would give it away."""
        return self.blinded and len(self.shown) > 2

    @property
    def turns_contrasts(self) -> bool:
        """Whether the control comes second in the alphabet: then B − A is control minus treatment."""
        return self.blinded and len(self.shown) == 2 and list(self.shown)[-1] == self.control


def is_blinded(study: Study, *, reader: User, asked: bool) -> bool:
    """Whether arms are hidden from this reader: in a blinded study, from a blinded viewer, or on request; never after its end."""
    if study.status in ENDED:
        return False
    return asked or Blinding.objects.filter(study=study, is_active=True).exists() or Seat(reader, study).is_blinded


def arm_names(study: Study, definition: StudyDefinition, *, blinded: bool, language: str) -> ArmNames:
    labels = {arm.name: arm.label.in_language(language) for arm in definition.arms}
    if not blinded:
        return ArmNames(blinded=False, shown=labels, files={name: name for name in labels}, control=definition.control)
    order = sorted(labels, key=lambda name: salted_hmac("analysis.blinding", f"{study.pk} {name}").hexdigest())
    letters = dict(zip(order, ascii_uppercase, strict=False))
    of_one_size = len({(arm.weight, arm.quota) for arm in definition.arms}) == 1 and not were_changed_by_hand(study)
    return ArmNames(blinded=True, shown=letters, files=letters, control=definition.control, of_one_size=of_one_size)


def readable(results: Results, names: ArmNames) -> Results:
    """Results as this reader may see them."""
    if not names.blinded:
        return results
    balance, direct = results.balance, results.direct_group
    # Direct answers are counted by arm only after the end, when nobody is blinded; so there is nothing to turn or to letter.
    return replace(
        results,
        design={},
        outcomes={question: _blinded(outcome, names) for question, outcome in results.outcomes.items()},
        balance=balance and _blinded_balance(balance, names),
        direct_group=None if direct is None else replace(direct, outcomes=()),
        margins={},  # their directions would tell which arm is the control
        families=(),
        categories={question: _blinded_categories(outcome, names) for question, outcome in results.categories.items()},
    )


def lettered(results: Results, names: ArmNames) -> Results:
    """The rest that `readable` leaves, with this reader's names of arms: for files and programs, which get no words around numbers."""
    if not names.blinded:
        return results
    outcomes: dict[str, QuestionEstimate | NotYet] = {}
    for question, outcome in results.outcomes.items():
        outcomes[question] = outcome
        if isinstance(outcome, QuestionEstimate):
            outcomes[question] = replace(_by_letters(outcome, names), sequence=_by_letters(outcome.sequence, names))
    balance = results.balance
    differences = tuple(_called(one, names) for one in balance.differences) if balance else ()
    return replace(results, outcomes=outcomes, balance=balance and replace(balance, differences=differences))


def _by_letters(found: ByArm, names: ArmNames) -> ByArm:
    return replace(
        found,
        effects=tuple(_called(one, names) for one in found.effects),
        prevalence=tuple(replace(one, arm=names.files[one.arm]) for one in found.prevalence),
    )


def called_categories(outcome: CategoryOutcome, names: ArmNames) -> CategoryOutcome:
    """A question with categories, with this reader's names of arms."""
    adjusted = outcome.with_covariates
    return replace(
        _called_contrasts(outcome, names),
        prevalence=tuple(replace(one, arm=names.files.get(one.arm, one.arm)) for one in outcome.prevalence),
        with_covariates=adjusted and _called_contrasts(adjusted, names),
    )


def _called_contrasts(found: OfCategories, names: ArmNames) -> OfCategories:
    return replace(
        found,
        no_effect=tuple(_called(one, names) for one in found.no_effect),
        effects=tuple(_called(one, names) for one in found.effects),
    )


def _called(contrast: Contrast, names: ArmNames) -> Contrast:
    return replace(contrast, treatment=names.files[contrast.treatment], control=names.files[contrast.control])


def _blinded(outcome: QuestionEstimate | NotYet, names: ArmNames) -> QuestionEstimate | NotYet:
    """Without what belongs to single arms: notes, their order and, where they are not of one size, shares of yes."""
    if isinstance(outcome, NotYet):
        return _without_reason(outcome)
    delta = outcome.honest_times_effect
    return replace(
        outcome,
        effects=tuple(replace(effect, notes=()) for effect in _contrasts(outcome.effects, turned_effect, names)),
        sequence=_blinded_sequence(outcome.sequence, names),
        honest_times_effect=_turned_delta(delta) if names.turns_contrasts else delta,
        missing=outcome.missing and replace(outcome.missing, contrasts=()),
        assignment=None,  # by contrast
        bounds=None,  # of the first contrast; every effect carries its own
        notes=(),
        prevalence=_shares(outcome.prevalence, names),
    )


def _blinded_categories(outcome: CategoryOutcome | NotYet, names: ArmNames) -> CategoryOutcome | NotYet:
    """The same for a question with categories."""
    if isinstance(outcome, NotYet):
        return _without_reason(outcome)
    adjusted = outcome.with_covariates
    return replace(
        _blinded_contrasts(outcome, names),
        prevalence=_shares(outcome.prevalence, names),
        missing_answers=outcome.missing_answers and replace(outcome.missing_answers, contrasts=()),
        with_covariates=adjusted and _blinded_contrasts(adjusted, names),
    )


def _blinded_contrasts(found: OfCategories, names: ArmNames) -> OfCategories:
    return replace(
        found,
        no_effect=_contrasts(found.no_effect, turned_test, names),
        effects=_contrasts(found.effects, turned_category, names),
        notes=(),
    )


def _blinded_balance(balance: Balance, names: ArmNames) -> Balance:
    """Without how many people of each arm gave an answer."""
    shown = _contrasts(balance.differences, turned_difference, names) if names.of_one_size else ()
    return replace(balance, differences=shown, answered={})


def _without_reason(outcome: NotYet) -> NotYet:
    """Nothing yet, and no reason if it names an arm."""
    return outcome if outcome.not_yet in NAMES_NO_ARM else replace(outcome, not_yet=_("The answers do not allow an estimate."))


def _blinded_sequence(sequence: MarkedSequence, names: ArmNames) -> MarkedSequence:
    """Its reason for waiting names an arm."""
    return replace(
        sequence,
        waits_for=sequence.waits_for and _("The answers do not allow an estimate."),
        effects=_contrasts(sequence.effects, turned_sequence, names),
        prevalence=_shares(sequence.prevalence, names),
    )


def _shares(shares: tuple[Share, ...], names: ArmNames) -> tuple[Share, ...]:
    """Shares by arm, in the order of the letters, where the sizes of the arms do not tell them apart; those of all arms together always."""
    order = [EVERYBODY, *names.shown]
    visible = (one for one in shares if names.of_one_size or one.arm == EVERYBODY)
    return tuple(sorted(visible, key=lambda one: order.index(one.arm)))


def _contrasts(contrasts: tuple[T, ...], turned: Callable[[T], T], names: ArmNames) -> tuple[T, ...]:
    """Those that this reader may see, in the direction in which they may see them."""
    if names.hides_contrasts:
        return ()
    return tuple(turned(one) for one in contrasts) if names.turns_contrasts else contrasts


def turned_effect(effect: MarkedEffect) -> MarkedEffect:
    """A contrast the other way round: B − A in place of A − B."""
    boot = effect.bootstrap
    return replace(
        turned_category(effect),
        bounds=_turned_bounds(effect.bounds),
        fieller=_turned_interval(effect.fieller),
        bootstrap=boot and replace(boot, low=_negative(boot.high), high=_negative(boot.low), bca=_turned_interval(boot.bca)),
    )


def turned_category(effect: Turned) -> Turned:
    return replace(
        effect,
        treatment=effect.control,
        control=effect.treatment,
        value=_negative(effect.value),
        interval=_turned_interval(effect.interval),
        wald=_turned_interval(effect.wald),
        honest_times_effect=_turned_delta(effect.honest_times_effect),
    )


def turned_test(test: NoEffectTest) -> NoEffectTest:
    """The test has no direction."""
    return replace(test, treatment=test.control, control=test.treatment)


def turned_sequence(effect: MarkedSequentialEffect) -> MarkedSequentialEffect:
    delta = effect.honest_times_effect
    return replace(
        effect,
        treatment=effect.control,
        control=effect.treatment,
        value=_negative(effect.value),
        interval=_turned(effect.interval),
        honest_times_effect=SequentialValue(value=_negative(delta.value), interval=_turned(delta.interval)),
        log_e_more=effect.log_e_fewer,
        log_e_fewer=effect.log_e_more,
        direction=0 - effect.direction,
    )


def turned_difference(row: Difference) -> Difference:
    return replace(
        row,
        treatment=row.control,
        control=row.treatment,
        treatment_mean=row.control_mean,
        control_mean=row.treatment_mean,
        difference=_negative(row.difference),
    )


def _turned_delta(delta: HonestTimesEffect) -> HonestTimesEffect:
    return replace(delta, value=_negative(delta.value))


def _turned(interval: Interval) -> Interval:
    return replace(interval, low=_negative(interval.high), high=_negative(interval.low))


def _turned_interval(interval: Interval | None) -> Interval | None:
    return None if interval is None else _turned(interval)


def _turned_bounds(bounds: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if bounds is None else (0.0 - bounds[1], 0.0 - bounds[0])


def _negative(value: float | None) -> float | None:
    return None if value is None else 0.0 - value
