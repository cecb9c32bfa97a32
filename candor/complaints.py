"""The faults of records and their demands, in English sentences. A page with a catalogue finds them again and translates them."""

from __future__ import annotations

import re

from candor.sentences import Sentence, found_among

NO_VALUE = "hierarchy %(name)s: expected at least one value, found none"
TWO_PARENTS = "hierarchy %(name)s: %(label)s has two parents, %(first)s and %(second)s"
NO_CHAIN = "hierarchy %(name)s, value %(value)s: expected a list of texts from the value up to '*', found %(found)s"
LONG_CHAIN = "hierarchy %(name)s, value %(value)s: expected 1 to %(most)s labels, found %(found)s"
BEGINS_ELSEWHERE = "hierarchy %(name)s: the chain of %(value)s begins with %(found)s"
SEVERAL_ROOTS = "hierarchy %(name)s: expected one root, '*'; the chain of %(value)s ends with %(found)s"
LOOP = "hierarchy %(name)s: %(label)s comes back in the chain of %(value)s: a loop"
WIDTHS = "hierarchy %(name)s: expected widths of intervals above 0, found %(found)s"
NO_MULTIPLE = "hierarchy %(name)s: each width must be a multiple of the one before, found %(smaller)s and %(larger)s"
NO_LEAF = "%(name)s: %(value)s is not a leaf of its hierarchy"
NO_NUMBER = "%(name)s: expected a number for its intervals, found %(value)s"
NO_HIERARCHY = "the quasi-identifier %(name)s has no hierarchy"
SMALL_K = "k: expected at least 2, found %(k)s"
LARGE_K = "k: expected at most the number of records, %(n)s, found %(k)s; all would be suppressed"
LARGE_K_AGAIN = "k: expected at most %(smallest)s, the smallest class of the earlier release, found %(k)s"
SMALL_CLASSES = "class size: expected at least k = %(k)s, found %(found)s"
SHARE = "suppressed share: expected at least 0 and less than 1, found %(found)s"
T = "t: expected from 0 to 1, found %(found)s"
NO_SENSITIVE = "ℓ: there is no sensitive attribute %(name)s; there are %(known)s"
NEGATIVE_LEVEL = "ℓ of %(name)s: expected 0 or more, found %(level)s"
LARGE_LEVEL = "ℓ of %(name)s: expected at most %(most)s, 1/(share of its commonest value), found %(level)s"
NO_BINS = "ℓ of %(name)s: neighbouring numbers are no diversity; expected its bins, {NAME: {'interval': WIDTH}}"
SUPPRESSED = "%(suppressed)s of %(n)s records would be suppressed; expected at most %(most)s"
UNLIKE = (
    "%(suppressed)s of %(n)s records would be suppressed, because fewer than k = %(k)s have the same attributes; expected at most %(most)s"
)
NOT_DIVERSE = "the sensitive values could not be made diverse; expected a smaller ℓ or larger classes"
NEW_RECORDS = "expected the records of the earlier release only, found %(found)s new ones: they have no class in it"
OTHER_QUESTIONS = "classes: the records of an earlier class have other attributes now; expected the same questions as before"
NO_MANIFEST = (
    "a protected release of these records was published before, and its manifest was deleted: "
    "with other classes the two could be intersected; expected no second one"
)
RECORD, CHILD, AT = "record %(number)s", "%(path)s → child %(number)s", "%(path)s: %(complaint)s"
"""Where in which record something is wrong."""

ALL = [words for name, words in vars().items() if name.isupper() and name not in ("RECORD", "CHILD", "AT")]


def found_again(message: str) -> Sentence | None:
    """The sentence of a message and its values, if it is one of these; None for any other text.

    Parameters
    ----------
    message : str

    Returns
    -------
    Sentence or None

    Examples
    --------
    >>> found_again("k: expected at least 2, found 1").values
    {'k': '1'}
    >>> str(found_again("record 3 → child 1: 'course': 'CS9' is not a leaf of its hierarchy").values["path"])
    'record 3 → child 1'
    >>> found_again("something else")
    """
    at = re.fullmatch(r"record (\d+)((?: → child \d+)*): (.*)", message, re.DOTALL)
    if at and (complaint := found_again(at[3])):
        path = Sentence(RECORD, {"number": at[1]})
        for number in re.findall(r"\d+", at[2]):
            path = Sentence(CHILD, {"path": path, "number": number})
        return Sentence(AT, {"path": path, "complaint": complaint})
    return found_among(ALL, message)
