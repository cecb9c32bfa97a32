"""The form for a rehearsal's bots, in percent and points as people type them, not in proportions."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.formats import number_format
from django.utils.translation import gettext_lazy as _

from surveys.journey.forms import read_number
from surveys.rehearsal.services import MOST_BOTS, Planted

# In the words of the methods; the module with their table loads SciPy, which web processes can do without.
BEHAVIOURS = (
    ("always_no", _("always say no")),
    ("always_yes", _("always say yes")),
    ("random", _("say yes or no at random")),
    ("opposite", _("say the opposite of the truth")),
    ("truthful", _("say the truth, whatever the die says")),
    ("refuse_forced_yes", _("follow the die, but never say a forced yes")),
    ("refuse_forced_no", _("follow the die, but never say a forced no")),
)
# How often they say yes, if that depends on nothing: what every design assumes of those who do not follow the die.
YES_RATES = {"always_no": 0.0, "always_yes": 1.0, "random": 0.5}


class TypedNumber(forms.Field):
    """A number as the other pages read it: with a decimal comma or point, and a sentence with what was expected and what came."""

    def __init__(self, *, min_value: int, max_value: int, whole: bool = False, **options: Any) -> None:
        self.min_value, self.max_value, self.whole = min_value, max_value, whole
        super().__init__(**options)

    def to_python(self, value: object) -> float | None:
        if value in self.empty_values:
            return None
        number, error = read_number(str(value).strip(), minimum=self.min_value, maximum=self.max_value, whole=self.whole)
        if error:
            raise forms.ValidationError(error)
        return number


class TruthForm(forms.Form):
    """Simulated people, by what is true for them."""

    prevalence = TypedNumber(
        label=_("Prevalence"),
        help_text=_("How many of 100 honest ones truly say yes; with several arms, in the control arm."),
        min_value=0,
        max_value=100,
        initial=40,
    )
    effect = TypedNumber(
        label=_("Effect"),
        help_text=_("How many more of 100 truly say yes in every other arm."),
        min_value=-100,
        max_value=100,
        initial=20,
    )

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or {}
        if "prevalence" in cleaned and "effect" in cleaned and not 0 <= (treated := cleaned["prevalence"] + cleaned["effect"]) <= 100:
            self.add_error(
                "effect",
                _("Prevalence and effect together must lie between 0 and 100, found %(found)s.") % {"found": number_format(f"{treated:g}")},
            )
        return cleaned

    @property
    def truth(self) -> dict[str, float]:
        """Prevalence and effect as proportions."""
        return {name: self.cleaned_data.get(name, 0) / 100 for name in ("prevalence", "effect")}


class PlantedForm(TruthForm):
    field_order = ("bots",)

    bots = TypedNumber(label=_("Bots"), whole=True, min_value=1, max_value=MOST_BOTS, initial=400)
    cheaters = TypedNumber(
        label=_("Cheaters"), help_text=_("How many of 100 do not follow the die."), min_value=0, max_value=95, initial=10
    )
    behaviour = forms.ChoiceField(label=_("Those who do not follow the die"), choices=BEHAVIOURS, initial="always_no")
    dropout = TypedNumber(label=_("Drop-out"), help_text=_("How many of 100 leave in the middle."), min_value=0, max_value=90, initial=5)

    under_reporting = TypedNumber(
        label=_("Denial"),
        help_text=_("How many of 100 with a true yes deny it when they are asked without a die."),
        min_value=0,
        max_value=100,
        initial=0,
    )

    def __init__(self, data: QueryDict | None = None, *, asks_directly: bool, compares: bool = True) -> None:
        super().__init__(data)
        if not compares:
            del self.fields["effect"]
        if not asks_directly:
            del self.fields["under_reporting"]

    def planted(self) -> Planted:
        given = self.cleaned_data
        return Planted(
            bots=given["bots"],
            **self.truth,
            cheater_proportion=given["cheaters"] / 100,
            behaviour=given["behaviour"],
            drops_out=given["dropout"] / 100,
            under_reports=given.get("under_reporting", 0) / 100,
        )
