"""A data set as an officer read it who sent it back, beside the one that its owner asks for now."""

from dataclasses import dataclass
from datetime import date

from pydantic import TypeAdapter

from analysis import actions
from analysis.models import DataSet
from audit.selectors import entries_about
from surveys.privacy.budgets import in_how_many
from surveys.review.changes import Run, word_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """The words and wishes of a data set when an officer sent it back. Records have no budget."""

    about: str
    epsilon: float | None
    delta: float | None
    delete_on: date

    @property
    def rarity(self) -> str:
        return in_how_many(self.delta) if self.delta else ""


CONTENT = TypeAdapter(Read)


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """The parts that are others since then; each is empty or None where it is as before."""

    description: list[Run]
    budget: Read | None
    day: date | None


def read_before(data_set: DataSet) -> Read | None:
    """The data set as the officer read it who sent it back last. None: nobody did, or a version of Candor that did not note it."""
    entry = entries_about(data_set).filter(action=actions.DATA_SET_SENT_BACK).first()
    return CONTENT.validate_python(entry.details) if entry and "about" in entry.details else None


def changed_since(data_set: DataSet) -> Since | None:
    """The changes of a data set that waits again; None if nobody sent it back before, or nobody noted what it was then."""
    before = read_before(data_set) if data_set.reason else None
    if before is None:
        return None
    return Since(
        description=word_runs(before.about, data_set.about) if before.about.splitlines() != data_set.about.splitlines() else [],
        budget=before if (before.epsilon, before.delta) != (data_set.epsilon, data_set.delta) else None,
        day=before.delete_on if before.delete_on != data_set.delete_on else None,
    )
