"""The words, facts and tables of a plan that the template shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

from django.utils.translation import gettext as _

from analysis.planning.faces import LETTERS, OFFERED, PlannedDie, suggested_die
from analysis.planning.forms import DIRECTIONS, NumberField
from analysis.planning.plans import Planned, Shown
from analysis.planning.wording import (
    cheater_sentence,
    cost_sentence,
    decimal,
    hardest,
    identification_sentence,
    margin_sentence,
    percent,
    points,
    power_sentence,
    whole,
)
from candor.planning.best_die import DieSuggestion
from surveys.privacy.words import loss_in_words, privacy_in_words

NAMES_OF_LETTERS = {"y": "yes", "n": "no", "t": "truth"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    position: int
    roll: int
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A subsample's faces, and how likely each instruction is."""

    index: int
    name: str
    letters: str
    weight: str
    faces: tuple[Face, ...]
    shares: tuple[tuple[str, str], ...]
    epsilon: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DieRow:
    """A recommended die."""

    code: str
    name: str
    yes: str
    no: str
    epsilon: str
    effect_error: str
    cheater_error: str
    in_use: bool


def page_of(planned: Planned) -> dict[str, object]:
    """The template's context."""
    plan = planned.plan
    return {
        **shown_of(planned),
        "sentences": tuple(filter(None, (power_sentence(plan), margin_sentence(plan), cheater_sentence(plan)))),
        "directions": DIRECTIONS,
        "facts": _facts(planned),
        "identification": identification_sentence(plan),
        "cost": cost_sentence(plan),
        "dice": tuple(_die_row(one, planned) for one in plan.dice),
        "contrasts": tuple(_contrasts(planned)),
    }


def shown_of(planned: Shown) -> dict[str, object]:
    """The part of the context that a survey has, too."""
    plan, form = planned.plan, planned.form
    return {
        "planned": planned,
        "plan": plan,
        "form": form,
        "errors": _errors(planned),
        "fields": tuple(form.numbers.values()),
        "dice_offered": dice_offered(form.die, OFFERED),
        "models": form.models,
        "stated_yes_rate": percent(float(form.start.cheater_model.yes_rate or 0)),
        "groups": tuple(groups_of(form.die, form.start.subsample_names, typed=form.weight_texts)),
        "privacy": privacy_in_words(plan.epsilon, questions=int(form.value("questions"))),
        "over_cap": plan.epsilon > form.value("cap") + 1e-9,
        "cap": loss_in_words(form.value("cap")),
        "epsilon": loss_in_words(plan.epsilon),
    }


def _errors(planned: Shown) -> list[dict[str, str]]:
    wrong: Iterable[NumberField] = (field for field in planned.form.numbers.values() if field.error)
    errors = [{"field": field.input.name, "message": f"{field.input.label}: {field.error}"} for field in wrong]
    return errors + ([{"field": "die", "message": planned.die_error}] if planned.die_error else [])


def dice_offered(die: PlannedDie, codes: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Code and name of the dice to choose from; the one in use is among them."""
    offered = {code: _die_name(code) for code in codes}
    return tuple({**offered, die.code: _die_name(die.code)}.items())


def _die_name(code: str) -> str:
    return _("%(sides)s sides") % {"sides": code} if code.isdecimal() else _("two six-sided dice, added")


def groups_of(die: PlannedDie, names: tuple[str, ...], *, typed: Sequence[str] = ()) -> Iterable[Group]:
    """The faces in the form, right or wrong, and the weights as they were `typed`; with another number of subsamples than there are
    `names`, they are numbered.
    """
    names = names if len(die.groups) == len(names) else tuple("123")
    for index, (letters, forced) in enumerate(zip(die.groups, die.forced_responses(), strict=True)):
        shares = zip(LETTERS, (forced.forced_yes, forced.forced_no, forced.truth), strict=True)
        yield Group(
            index=index,
            name=names[index],
            letters=letters,
            weight=(typed[index] if index < len(typed) else "") or str(die.weights[index]),
            faces=tuple(
                Face(position=position, roll=roll, says=NAMES_OF_LETTERS[letters[position]]) for position, roll in enumerate(die.rolls)
            ),
            shares=tuple((NAMES_OF_LETTERS[letter], percent(float(share))) for letter, share in shares),
            epsilon=loss_in_words(forced.epsilon),
        )


def _facts(planned: Planned) -> tuple[tuple[str, str, str], ...]:
    """A number with its meaning and the one beside it."""
    plan = planned.plan
    one, cheaters = hardest(plan), plan.cheater_proportion
    total = _("%(total)s in total") % {"total": loss_in_words(plan.epsilon_total)}
    return (
        (_("Power"), percent(one.power), _("wanted: %(target)s") % {"target": percent(plan.target_power)}),
        (
            _("Students needed"),
            whole(one.participants_needed),
            _("ordinary trial: %(n)s") % {"n": whole(one.ordinary_participants_needed)},
        ),
        (_("Privacy loss ε"), loss_in_words(plan.epsilon), total),
        (
            _("Standard error"),
            points(one.standard_error),
            _("points; ordinary trial: %(error)s") % {"error": points(one.ordinary_standard_error)},
        ),
        (
            _("Cost of privacy"),
            "–" if one.cost_of_privacy is None else f"{decimal(one.cost_of_privacy, 2)} ×",
            _("the ordinary standard error"),
        ),
        (
            _("Cheaters known to"),
            "–" if cheaters is None else f"± {points(cheaters.half_width, 0)}",
            _("points; standard error %(error)s") % {"error": points(None if cheaters is None else cheaters.standard_error)},
        ),
    )


def _die_row(one: DieSuggestion, planned: Planned) -> DieRow:
    root, die = sqrt(planned.plan.n), suggested_die(one)
    return DieRow(
        code=die.code,
        name=_die_name(die.code),
        yes=one.forced_yes,
        no=one.forced_no,
        epsilon=decimal(one.epsilon, 2),
        effect_error=points(one.unit_effect_error / root),
        cheater_error=points(one.unit_honest_proportion_error / root),
        in_use=die.plays(planned.form.die),
    )


def _contrasts(planned: Planned) -> Iterable[tuple[str, ...]]:
    """One row for each treatment arm."""
    for one in planned.plan.contrasts:
        yield (
            f"{one.treatment} − {one.control}",
            points(one.effect),
            points(one.standard_error),
            percent(one.power),
            whole(one.participants_needed),
            points(one.ordinary_standard_error),
            whole(one.ordinary_participants_needed),
            "–" if one.cost_of_privacy is None else f"{decimal(one.cost_of_privacy, 2)} ×",
        )
