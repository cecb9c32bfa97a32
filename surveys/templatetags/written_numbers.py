"""Numbers and messages as pages write them. A built-in library of all templates, so that `floatformat` stands in the place of Django's."""

from django import template
from django.template import defaultfilters
from django.utils.formats import number_format
from django.utils.safestring import mark_safe

from surveys.languages.labels import whole_sentence
from surveys.languages.signs import sign_on_the_left, with_minus
from surveys.privacy.words import loss_in_words

register = template.Library()


@register.filter(is_safe=True)
def floatformat(text: object, arg: int | str = -1) -> str:
    """As Django's, with a minus before what is negative, where Django writes a hyphen. `u` is for programs, and keeps it."""
    written = defaultfilters.floatformat(text, arg)
    return written if str(arg).endswith("u") else mark_safe(with_minus(written))  # noqa: S308  # digits


@register.filter
def all_digits(number: float) -> str:
    """A number with the digits that it has and no others, as the language writes it: 10, or 0.25."""
    return with_minus(number_format(f"{number:.15g}"))


register.filter("loss", loss_in_words)
register.filter(sign_on_the_left)
register.filter(whole_sentence)
