"""Sentences that were stored as words of the catalogue with values, in the language of this request."""

import re

from django import template
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop

from candor.complaints import found_again
from candor.designs import assumptions
from candor.planning import notes
from candor.sentences import Sentence, found_among
from surveys.languages import labels
from surveys.reading.apart import complaint_in_words, in_words
from surveys.reading.words import SentenceDocument

register = template.Library()
VARIABLES = {
    re.compile(r"(?P<question>[^:]+): not answered"): gettext_noop("%(question)s: not answered"),
    re.compile(r"(?P<question>[^:]+): entries"): gettext_noop("%(question)s: entries"),
    re.compile(r"(?P<question>[^:]+): mean (?P<field>.+)"): gettext_noop("%(question)s: mean %(field)s"),
}
DECIMALS = re.compile(r"(-?\d+\.\d+)( ?%)?")


@register.filter
def as_sentence(stored: Sentence | SentenceDocument | str) -> str:
    """Numbers with decimals are written as the language writes them. A text is of before sentences were stored, and stays English."""
    document = stored.document() if isinstance(stored, Sentence) else stored
    return document if isinstance(document, str) else in_words(_written_here(document))


@register.filter
def as_complaint(message: str) -> SafeString:
    """The library's words about records, in the reader's language. A message that no catalogue has is marked as English."""
    words = labels.whole_sentence(complaint_in_words(message))
    return format_html("{}" if found_again(message) else '<span lang="en">{}</span>', words)


@register.filter
def as_assumption(sentence: str) -> SafeString:
    """The basis of numbers, in the reader's language. A sentence of an older library that no catalogue has is marked as English."""
    return _as_found(assumptions.found_again(sentence), sentence)


@register.filter
def as_note(note: str) -> SafeString:
    """The note of a plan, in the reader's language, with groups of digits; marked as English as an assumption is."""
    found = found_among(notes.ALL, note)
    whole = {name: str(value) for name, value in found.values.items() if str(value).isdecimal()} if found else {}
    return _as_found(found, note, **{name: number_format(int(value), force_grouping=True) for name, value in whole.items()})


@register.filter
def as_variable(name: str) -> str:
    """A column of background answers, whose name begins with that of a question in the study file."""
    for pattern, words in VARIABLES.items():
        if match := pattern.fullmatch(name):
            return gettext(words) % match.groupdict()
    return name


@register.filter
def within_sentence(label: str) -> str:
    """The name of a state in the middle of a sentence."""
    return labels.within_sentence(label)


def _as_found(found: Sentence | None, text: str, **values: str) -> SafeString:
    """`values`: those that are written otherwise here."""
    if found is None:
        return format_html('<span lang="en">{}</span>', text)
    said = _written_here(found.document())
    return format_html("{}", in_words({"words": said["words"], "values": {**said["values"], **values}}))


def _written_here(stored: SentenceDocument) -> SentenceDocument:
    return {"words": stored["words"], "values": {name: _value(value) for name, value in stored["values"].items()}}


def _value(value: str | int | SentenceDocument) -> str | int | SentenceDocument:
    if isinstance(value, dict):
        return _written_here(value)
    match = DECIMALS.fullmatch(value) if isinstance(value, str) else None
    return number_format(match[1]).replace("-", "−") + (match[2] or "") if match else value
