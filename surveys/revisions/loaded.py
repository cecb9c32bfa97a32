"""The parts of drafts that open pages show, so that what two people write in different places can be brought together.

The cache alone knows them. A page that was open for longer than it remembers asks its reader to choose, as for the same place.
"""

import re

from django.core.cache import cache

from surveys.drafting.edits import Unchecked, fingerprint_of
from surveys.models import Study
from surveys.revisions.merging import merged

HOURS = 12


def remember_loaded(study: Study, value: Unchecked) -> str:
    """The fingerprint of a part as a page shows it, by which the form that comes back finds the part again."""
    fingerprint = fingerprint_of(value)
    if value is not None:
        cache.set(_key(study, fingerprint), value, timeout=HOURS * 3600)
    return fingerprint


def brought_together(study: Study, *, loaded: str, mine: Unchecked, theirs: Unchecked) -> Unchecked | None:
    """The part with this fingerprint as two people changed it; None where both changed one place, or where it is forgotten."""
    base = cache.get(_key(study, loaded)) if re.fullmatch("[0-9a-f]{64}", loaded) else None
    if base is None or mine is None or theirs is None:
        return None
    merge = merged(base, mine, theirs)
    return None if merge.conflicts else merge.document


def _key(study: Study, fingerprint: str) -> str:
    return f"loaded-{study.pk}-{fingerprint}"
