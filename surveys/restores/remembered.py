"""Ends of studies, remembered beside the database: another end, after a back-up was restored, tells nobody beside those before.

Each is one file below MEDIA_ROOT. The first end is called by the hash of the study's first allocation list, which is drawn once; the hash
of the log's entry follows in the names of others. A file holds the day, this entry, and for each group of people that hides a withdrawal a
fingerprint of those who were shown, and how many were left out. The files stay for good.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db.models import F, QuerySet, Value

from audit.beside import write_beside
from surveys.batches import rules
from surveys.batches.selectors import REFUSED, group_of
from surveys.lifecycle.selectors import hash_of_first_list
from surveys.models import ENDED, Participant, Step, Study
from surveys.protocols import protocol_in_force
from surveys.questions.sections import SECTION
from surveys.retention.services import closing_of

FOLDER = ".ended"


@dataclass(slots=True)
class Group:
    """People who hide each other's withdrawals, as they stand in the shown numbers."""

    one: UUID | None = None
    """Somebody of them."""
    shown: int = 0
    left_out: int = 0
    mark: int = 0
    """The exclusive or of the marks of those who are shown: another one for other people, and for somebody on the way who got an arm."""

    def show(self, key: UUID, *place: str) -> None:
        self.shown += 1
        self.mark ^= int(sha256(json.dumps([key.hex, *place]).encode()).hexdigest(), 16)

    @property
    def fingerprint(self) -> str:
        return sha256(self.mark.to_bytes(32, "big")).hexdigest()


@dataclass(frozen=True, slots=True)
class Otherwise:
    """A group that the first end showed with other people, because a back-up has lost some or somebody came since."""

    alike: "QuerySet[Participant]"
    now: Group
    left_out_before: int
    """By that end before which left out the most."""

    @property
    def to_hold_back(self) -> int:
        """How many to leave out once those who left are withdrawn again.

        After an end before each of them took `LEAST` people out of the group at most. Now `LEAST` more are out than all of them took then,
        and those whom that end left out. So any two ends differ by many, whomever the back-up has lost.
        """
        left = self.now.shown + self.now.left_out - self.alike.count()
        gone = self.now.shown - self.alike.filter(counted=True).count()
        return (left + 1) * rules.LEAST + self.left_out_before - gone


@dataclass(frozen=True, slots=True)
class End:
    """The ends of a study, as they are remembered."""

    day: date
    groups: dict[str, tuple[str, int]]
    """The first fingerprint, and how many people were left out at most, by the name of the group."""
    entries: list[str]
    """The hashes of the log's entries that tell them."""


def folder_of_ends() -> Path:
    return Path(settings.MEDIA_ROOT) / FOLDER


def keep_ends() -> None:
    """Write the ends to the disk that are not there yet. People who withdrew before that make another fingerprint, which leaves out more
    people than it has to.
    """
    for study in Study.objects.filter(status__in=ENDED, numbers_withheld=False, forgotten_on=None).defer("definition"):
        name = hash_of_first_list(study)
        if name and not (folder_of_ends() / name).exists():
            _keep(study, name)


def keep_another_end(study: Study) -> None:
    """Write this end to the disk beside those before: a back-up may be restored once more, or an older one."""
    _keep(study, f"{hash_of_first_list(study)}.{_entry_of(study)}")


def _keep(study: Study, name: str) -> None:
    groups = {group: (found.fingerprint, found.left_out) for group, found in _groups(study).items()}
    end = {"day": str(study.closed_on), "entry": _entry_of(study), "groups": groups}
    write_beside(folder_of_ends() / name, json.dumps(end, sort_keys=True))


def _entry_of(study: Study) -> str:
    closing = closing_of(study)
    return closing.hash if closing else ""


def end_of(study: Study, *, within: Path) -> End | None:
    """The ends of this study that the folder of ends remembers, whether the database knows them or not."""
    name = hash_of_first_list(study)
    if not name or not (within / name).is_file():
        return None
    first, *others = (_read(path) for path in sorted(within.glob(f"{name}*")))
    for end in others:
        for group, (mark, left) in end.groups.items():
            before, left_before = first.groups.get(group, (mark, 0))
            first.groups[group] = before, max(left, left_before)
        first.entries.extend(end.entries)
    return first


def _read(path: Path) -> End:
    try:
        found = json.loads(path.read_text(encoding="ascii"))
        groups = {group: (str(mark), int(left)) for group, (mark, left) in found["groups"].items()}
        return End(date.fromisoformat(found["day"]), groups, [str(found.get("entry", ""))])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"Expected how a study ended in {path.name}, found something else ({error}).") from error


def shown_otherwise(study: Study, before: End) -> Iterator[Otherwise]:
    """The groups of this ended study that the first end showed with other people, also those of which the back-up has lost everybody."""
    found = _groups(study)
    for name in before.groups | found:
        group = found.get(name, Group())
        fingerprint, left_out = before.groups.get(name, ("", 0))
        if fingerprint != group.fingerprint:
            alike = group_of(Participant.objects.get(pk=group.one)) if group.one else Participant.objects.none()
            yield Otherwise(alike, group, left_out)


def _groups(study: Study) -> dict[str, Group]:
    """The groups of `group_of`, by their names."""
    section = F(f"background__{SECTION}") if protocol_in_force(study).definition.in_sections else Value("")
    people = Participant.objects.filter(study=study).annotate(answered=~REFUSED, part=section)
    columns = ("pk", "counted", "step", "is_bot", "subsample", "arm", "answered", "part")
    found: dict[str, Group] = {}
    for key, counted, step, is_bot, *finished in people.values_list(*columns).iterator():
        group = found.setdefault(json.dumps([is_bot, *(finished if step == Step.FINISHED else [])]), Group(key))
        if counted:
            group.show(key, *finished[:2])
        else:
            group.left_out += 1
    return found
