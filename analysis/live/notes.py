"""Says on pages what the library says about an estimate: arms by their labels, methods by their names, in whole sentences.

The library's words stay exact for programs and for the command line; they name arms and methods as files do.
"""

import re
from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from candor.sentences import found_among
from surveys.preregistration.method_names import METHODS, method_name
from surveys.templatetags.catalogue_words import as_sentence

Labels = Mapping[str, str]
"""The label of each arm by its name."""

TOO_FEW = re.compile(r"too few answers in (.+): needed at least (\d+), found (\d+)")
WAITS = re.compile(
    r"too early: (\d+) said (yes|no) in arm '(.+)', subsample '(.+)', and at least (\d+) have to say yes and \d+ no everywhere"
)
ROUGH = re.compile(r"(\d+) said (yes|no) in arm (.+), subsample (.+): intervals and p-values, which rest on many answers, are rough\.")
ROUGH_ANSWER = re.compile(r"(\d+) said “(.+)” in arm (.+), subsample (.+): intervals and p-values, which rest on many answers, are rough\.")
QUOTED = re.compile(r"\b(arm|subsample) '([^']*)'")
REMARKS = (
    gettext_noop("Epsilon is infinite: some answers reveal the truth, so these answers were not protected."),
    gettext_noop("The cheater proportion is not identified by this design under its cheater model."),
    gettext_noop("No standard error of the cheater proportion: the answers within every subsample do not vary."),
    gettext_noop(
        "Without limits the cheater proportion would be %(raw)s, which leaves shares outside [0, 1]: the most likely possible one is given."
    ),
    gettext_noop(
        "The answers contradict the model: no shares of honest people, cheaters and yes between 0 and 1 explain them (likelihood ratio "
        "%(statistic)s, p ≤ %(p_value)s). So an assumption fails, or the die was not the stated one; no cheater proportion, effect or "
        "prevalence is given."
    ),
    gettext_noop(
        "No effect is given: even if cheaters differ by arm, no shares between 0 and 1 explain the answers (likelihood ratio "
        "%(statistic)s, p ≤ %(p_value)s). So an assumption fails, or the die was not the stated one."
    ),
    gettext_noop("The prevalence in %(arm)s was estimated at %(raw)s, outside [0, 1]: the most likely possible one is given."),
    gettext_noop("The effect lies outside its interval, which knows that all shares lie between 0 and 1; the estimate does not."),
    gettext_noop(
        "The cheater proportion lies outside its interval, which knows that all shares lie between 0 and 1; the estimate does not."
    ),
    gettext_noop(
        "The prevalence in %(arm)s lies outside its interval, which knows that all shares lie between 0 and 1; the estimate does not."
    ),
    gettext_noop("The efficient fit did not settle: its numbers are approximate."),
    gettext_noop(
        "The shares with the die are withheld: they are those of people who had agreed, and would tell, beside the results of everybody, "
        "what a few others reported."
    ),
)
"""The library's remarks about a question, as pages say them; rarer ones stay English."""
IDENTIFIER = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")


def plain_reason(reason: str, *, arms: Labels) -> str:
    """Why there is no estimate yet."""
    if found := WAITS.fullmatch(reason):
        people, words = int(found[1]), {"arm": arms.get(found[3], found[3]), "subsample": found[4], "least": int(found[5])}
        said = (
            ngettext(
                "Too few answers: %(found)d person said yes in “%(arm)s”, subsample %(subsample)s, and at least %(least)d have to.",
                "Too few answers: %(found)d people said yes in “%(arm)s”, subsample %(subsample)s, and at least %(least)d have to.",
                people,
            )
            if found[2] == "yes"
            else ngettext(
                "Too few answers: %(found)d person said no in “%(arm)s”, subsample %(subsample)s, and at least %(least)d have to.",
                "Too few answers: %(found)d people said no in “%(arm)s”, subsample %(subsample)s, and at least %(least)d have to.",
                people,
            )
        )
        return said % {"found": people, **words}
    if (found := TOO_FEW.fullmatch(reason)) is None:
        return _sentence(_called(reason, arms))
    where, needed, there = found[1], int(found[2]), int(found[3])
    return ngettext(
        "Too few answers for an estimate: %(where)s has %(found)d answers, and at least %(needed)d answer is needed.",
        "Too few answers for an estimate: %(where)s has %(found)d answers, and at least %(needed)d answers are needed.",
        needed,
    ) % {"where": _called(where, arms), "found": there, "needed": needed}


def plain_note(note: str, *, arms: Labels) -> str:
    """A remark about an estimate; one about a single method and arm begins with their names."""
    if found := ROUGH.fullmatch(note):
        people = int(found[1])
        numbers = {"found": people, "arm": arms.get(found[3], found[3]), "subsample": found[4]}
        said = (
            ngettext(
                "Only %(found)d person said yes in “%(arm)s”, subsample %(subsample)s: intervals and p-values are rough.",
                "Only %(found)d people said yes in “%(arm)s”, subsample %(subsample)s: intervals and p-values are rough.",
                people,
            )
            if found[2] == "yes"
            else ngettext(
                "Only %(found)d person said no in “%(arm)s”, subsample %(subsample)s: intervals and p-values are rough.",
                "Only %(found)d people said no in “%(arm)s”, subsample %(subsample)s: intervals and p-values are rough.",
                people,
            )
        )
        return said % numbers
    if found := ROUGH_ANSWER.fullmatch(note):
        people = int(found[1])
        return ngettext(
            "Only %(found)d person said “%(answer)s” in “%(arm)s”, subsample %(subsample)s: intervals and p-values are rough.",
            "Only %(found)d people said “%(answer)s” in “%(arm)s”, subsample %(subsample)s: intervals and p-values are rough.",
            people,
        ) % {"found": people, "answer": found[2], "arm": arms.get(found[3], found[3]), "subsample": found[4]}
    for method in METHODS:
        for arm, label in arms.items():
            if note.startswith(start := f"{method}, {arm}: "):
                words = {"arm": label, "method": method_name(method), "note": _remark(note.removeprefix(start), arms)}
                return _("“%(arm)s”, %(method)s: %(note)s") % words
    return _remark(note, arms)


def _remark(note: str, arms: Labels) -> str:
    called = _called(note, arms)
    found = found_among(REMARKS, called)
    return as_sentence(found.document()) if found else _sentence(called)


def _called(text: str, arms: Labels) -> str:
    """Arms by their labels, subsamples without quotes, methods by their names, other names of files without underscores."""
    text = QUOTED.sub(lambda found: _in_quotes(arms.get(found[2], found[2])) if found[1] == "arm" else _("subsample %s") % found[2], text)
    return IDENTIFIER.sub(lambda found: method_name(found[0]) if found[0] in METHODS else found[0].replace("_", " "), text)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def _in_quotes(label: str) -> str:
    return _("“%(answer)s”") % {"answer": label}
