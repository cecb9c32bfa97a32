"""Reading a plan from its address. A mistake gets a sentence at its field, and everything else keeps its value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.planning.faces import LETTERS, PlannedDie, rolls_of, usual_die
from analysis.planning.starts import Start
from candor.designs.design import CheaterModel
from candor.equivalence.margins import Margin, Worse
from candor.errors import MethodError
from candor.written_numbers import typed_number
from surveys.builder.allocation import LARGEST_WEIGHT

PERCENT = "%"
CHEATER_MODELS = ("any", "always_no", "always_yes")
AS_IN_THE_STUDY = "study"
EITHER = "either"
DIRECTIONS = (EITHER, "more_yes", "fewer_yes")
GROUPS = ("group1", "group2", "group3")
WEIGHTS = ("weight1", "weight2", "weight3")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberInput:
    """A number with its limits, those of its slider, and its words. Numbers in percent are proportions for the methods."""

    name: str
    label: Promise
    hint: Promise
    unit: Promise | str = ""
    low: Decimal
    high: Decimal
    slider: tuple[str, str]
    step: str = "1"
    whole: bool = False
    logarithmic: bool = False

    @property
    def limits(self) -> dict[str, str]:
        return {"low": number_format(self.low, force_grouping=True), "high": number_format(self.high, force_grouping=True)}


def _input(name: str, label: Promise, hint: Promise, low: str, high: str, **options: object) -> NumberInput:
    return NumberInput(name=name, label=label, hint=hint, low=Decimal(low), high=Decimal(high), **options)  # type: ignore[arg-type]


INPUTS: tuple[NumberInput, ...] = (
    _input(
        "n",
        gettext_lazy("Students"),
        gettext_lazy("How many take part, in all groups together."),
        "2",
        "1000000",
        slider=("20", "100000"),
        whole=True,
        logarithmic=True,
    ),
    _input(
        "effect",
        gettext_lazy("Effect"),
        gettext_lazy("How many more of 100 honest students say yes because of the treatment."),
        "-100",
        "100",
        slider=("-60", "60"),
        unit=gettext_lazy("points"),
    ),
    _input(
        "prevalence",
        gettext_lazy("Prevalence"),
        gettext_lazy("How many of 100 honest students truly say yes; with several arms, in the control arm."),
        "0",
        "100",
        slider=("0", "100"),
        unit=PERCENT,
    ),
    _input(
        "cheaters",
        gettext_lazy("Cheaters"),
        gettext_lazy("How many of 100 students do not follow the die."),
        "0",
        "95",
        slider=("0", "60"),
        unit=PERCENT,
    ),
    _input(
        "covariates",
        gettext_lazy("Explained by background"),
        gettext_lazy("R²: the share of the differences between true answers that background questions explain, if the analysis uses them."),
        "0",
        "90",
        slider=("0", "60"),
        unit=PERCENT,
    ),
    _input(
        "section",
        gettext_lazy("Students in a section"),
        gettext_lazy("How many are assigned together, as a whole section or class; 1: everybody alone."),
        "1",
        "10000",
        slider=("1", "200"),
    ),
    _input(
        "icc",
        gettext_lazy("Alike in a section"),
        gettext_lazy(
            "Intra-class correlation: the share of the differences between true answers that lies between sections. Often 1 to 10 %."
        ),
        "0",
        "100",
        slider=("0", "30"),
        unit=PERCENT,
        step="0.5",
    ),
    _input(
        "questions",
        gettext_lazy("Sensitive questions"),
        gettext_lazy("Each has its own roll, and privacy losses add up."),
        "1",
        "20",
        slider=("1", "20"),
        whole=True,
    ),
    _input(
        "cap",
        gettext_lazy("Cap on ε per question"),
        gettext_lazy("The most privacy that one answer may cost."),
        "0.1",
        "8",
        slider=("0.1", "4"),
        step="0.01",
    ),
    _input(
        "power",
        gettext_lazy("Power wanted"),
        gettext_lazy("How often of 100 such studies the effect should be found."),
        "10",
        "99",
        slider=("50", "99"),
        unit=PERCENT,
    ),
    _input(
        "margin",
        gettext_lazy("Margin"),
        gettext_lazy("For a test that the effect is smaller than so many points, because that would not matter; 0: no such test."),
        "0",
        "99",
        slider=("0", "30"),
        unit=gettext_lazy("points"),
        step="0.5",
    ),
    _input(
        "truth",
        gettext_lazy("Least truth in a subsample"),
        gettext_lazy(
            "For designs to choose from: how many of 100 rolls at least ask for the truth. Will people follow a die that hardly asks?"
        ),
        "5",
        "90",
        slider=("5", "60"),
        unit=PERCENT,
    ),
)
WIDTH = _input(
    "width",
    gettext_lazy("Precision wanted"),
    gettext_lazy("How far the share of yes may be off: half of the width of its interval."),
    "0.1",
    "49",
    slider=("1", "25"),
    unit=gettext_lazy("points"),
)
IN_PERCENT = {"effect", "prevalence", "cheaters", "covariates", "icc", "power", "truth", "width", "margin"}
ONLY_IN_EXPERIMENTS = {"effect", "covariates", "section", "icc", "power", "truth", "margin"}


def inputs_of(start: Start) -> tuple[NumberInput, ...]:
    """The numbers that a plan takes; a survey has a precision in place of an effect and its power."""
    if not start.is_survey:
        return INPUTS
    people, *rest = (one for one in INPUTS if one.name not in ONLY_IN_EXPERIMENTS)
    return (people, WIDTH, *rest)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberField:
    """A number input with the typed text, the value in use, and the error."""

    input: NumberInput
    text: str
    number: Decimal
    error: str = ""

    @property
    def for_the_methods(self) -> Decimal:
        """A proportion where the page shows percent; the exact decimal number for the command line."""
        return self.number / 100 if self.input.name in IN_PERCENT else self.number

    @property
    def used(self) -> str:
        return plain(self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanForm:
    """All values in a plan's address."""

    start: Start
    numbers: Mapping[str, NumberField]
    die: PlannedDie
    die_error: str
    model: str
    worse: str
    die_is_new: bool = False
    change: str = ""
    weight_texts: tuple[str, ...] = ()

    def value(self, name: str) -> float:
        return float(self.numbers[name].for_the_methods)

    @property
    def cheater_model(self) -> CheaterModel:
        return self.start.cheater_model if self.model == AS_IN_THE_STUDY else CheaterModel(name=self.model)

    @property
    def models(self) -> tuple[str, ...]:
        """The assumptions on cheaters to choose from; the study's own one is among them."""
        return CHEATER_MODELS if self.start.cheater_model.name in CHEATER_MODELS else (*CHEATER_MODELS, AS_IN_THE_STUDY)

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The margin against which effects will be tested; none where it is zero."""
        size = self.value("margin")
        worse: Worse | None = None if self.worse == EITHER else "more_yes" if self.worse == "more_yes" else "fewer_yes"
        return (Margin(size=size, worse=worse),) if size else ()

    def with_die(self, die: PlannedDie) -> PlanForm:
        return replace(self, die=die, die_error="", die_is_new=False, change="", weight_texts=())

    @property
    def query(self) -> str:
        """The address of this plan, to be shared."""
        texts = {name: field.text for name, field in self.numbers.items()}
        return urlencode({**texts, "model": self.model, "worse": self.worse, **self.die.texts})


def read_plan(query: QueryDict, start: Start) -> PlanForm:
    """Read an address; missing values keep their start."""
    numbers = {one.name: _read_number(one, query.get(one.name), start.texts[one.name]) for one in inputs_of(start)}
    if "effect" in numbers:
        numbers["effect"] = _possible_effect(numbers["effect"], numbers["prevalence"])
        if numbers["section"].number > 1:
            words = _("No test against a margin is known for sections that are assigned as a whole; the plan leaves it out.")
            numbers["margin"] = _left_out(numbers["margin"], words)
            words = _("Results of sections that are assigned as a whole use no background questions; the plan leaves them out.")
            numbers["covariates"] = _left_out(numbers["covariates"], words)
    die, error, is_new = read_die(query, start.die)
    own_model = start.cheater_model.name if start.cheater_model.name in CHEATER_MODELS else AS_IN_THE_STUDY
    worse = query.get("worse", start.worse)
    form = PlanForm(
        start=start,
        numbers=numbers,
        die=die,
        die_error=error,
        die_is_new=is_new,
        model=own_model,
        worse=worse if worse in DIRECTIONS else start.worse,
        change=query.get("change", ""),
        weight_texts=tuple(query.get(name, "") for name in WEIGHTS) if error else (),
    )
    asked = query.get("model", own_model)
    return replace(form, model=asked) if asked in form.models else form


def plain(number: Decimal) -> str:
    """A decimal number without exponent and trailing zeros.

    Examples
    --------
    >>> plain(Decimal("0.20")), plain(Decimal(400))
    ('0.2', '400')
    """
    return f"{number.normalize():f}"


def _read_number(one: NumberInput, typed: str | None, default: str) -> NumberField:
    text = (number_format(default) if typed is None else typed).strip()
    words = {**one.limits, "found": text[:40], "used": number_format(Decimal(default), force_grouping=True)}
    if not text:
        return NumberField(input=one, text="", number=Decimal(default), error=_("Enter a number; the plan uses %(used)s.") % words)
    number = typed_number(text, whole=one.whole)
    if number is None:
        message = (
            _("Enter a whole number from %(low)s to %(high)s, not “%(found)s”; the plan uses %(used)s.")
            if one.whole
            else _("Enter a number from %(low)s to %(high)s, not “%(found)s”; the plan uses %(used)s.")
        )
        return NumberField(input=one, text=text[:40], number=Decimal(default), error=message % words)
    if not one.low <= number <= one.high:
        nearest = min(max(number, one.low), one.high)
        message = _("Enter a number from %(low)s to %(high)s, not %(found)s; the plan uses %(used)s.")
        return NumberField(
            input=one, text=text, number=nearest, error=message % {**words, "used": number_format(nearest, force_grouping=True)}
        )
    return NumberField(input=one, text=text, number=number)


def _possible_effect(effect: NumberField, prevalence: NumberField) -> NumberField:
    """An effect that leaves the treated prevalence between 0 and 100 %."""
    treated = prevalence.number + effect.number
    if 0 <= treated <= 100:
        return effect
    nearest = min(max(treated, Decimal(0)), Decimal(100)) - prevalence.number
    numbers = {"prevalence": prevalence.number, "effect": effect.number, "treated": treated, "used": nearest}
    words = {name: number_format(plain(number)) for name, number in numbers.items()}
    error = (
        _("A prevalence of %(prevalence)s %% and an effect of %(effect)s points make %(treated)s %%; the plan uses %(used)s points.")
        % words
    )
    return replace(effect, number=nearest, error=effect.error or error)


def _left_out(field: NumberField, error: str) -> NumberField:
    """Zero in place of any other number, which the error explains."""
    return replace(field, number=Decimal(0), error=field.error or error) if field.number else field


def read_die(query: Mapping[str, str], start: PlannedDie) -> tuple[PlannedDie, str, bool]:
    """The die, its error, and whether it was just chosen, so that its faces are still to be chosen."""
    code = query.get("die", start.code).strip()
    groups = tuple(letters for name in GROUPS if (letters := query.get(name, "")))
    weights, error = _read_weights(query, groups or start.groups, start)
    if not groups and code == start.code:
        return start.weighted(weights), error, False
    try:
        rolls = rolls_of(code)
        usual = usual_die(code).weighted(weights)
    except MethodError as problem:
        return start, str(problem), False
    if wrong := next((letters for letters in groups if set(letters) - set(LETTERS)), None):
        sentence = _("Every face says y (yes), n (no) or t (truth), not “%(found)s”; the plan uses the usual faces.") % {
            "found": wrong[:40]
        }
        return usual, sentence, False
    if len(groups) < 2 or any(len(letters) != len(rolls) for letters in groups):
        return usual, error, True
    return PlannedDie(code=code, groups=groups, weights=weights), error, False


def _read_weights(query: Mapping[str, str], groups: tuple[str, ...], start: PlannedDie) -> tuple[tuple[int, ...], str]:
    """The weights of the subsamples; missing ones are those of the start, if it has as many, and 1 otherwise."""
    known = start.weights if len(start.weights) == len(groups) else (1,) * len(groups)
    weights = []
    for name, weight in zip(WEIGHTS, known, strict=False):
        number = typed_number(text, whole=True) if (text := query.get(name, "").strip()) else Decimal(weight)
        if number is None or not 1 <= number <= LARGEST_WEIGHT:
            words = {"most": LARGEST_WEIGHT, "found": text[:40]}
            return known, _("A weight is a whole number from 1 to %(most)s, not “%(found)s”.") % words
        weights.append(int(number))
    return tuple(weights), ""
