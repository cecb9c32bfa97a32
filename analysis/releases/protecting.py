"""Background answers as protected records: classes are drawn by chance once, and later versions of a study's data publish the same records.

The manifest says which record was published for which random key. It is encrypted, and deleted with the operational data.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from django.conf import settings
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from analysis.answers.record_schemas import RecordSchema
from analysis.answers.study_records import (
    Chains,
    as_published,
    auxiliary_of,
    records_of,
    suggested_hierarchies,
)
from analysis.models import DataSet, RecordHierarchies, Release, key_of
from analysis.packages.errors import ReleaseError
from analysis.packages.rows import Row
from candor.records.schema import Record, Released
from surveys.batches.rules import LEAST
from surveys.definition import StudyDefinition
from surveys.models import Study

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

    from candor.records.anonymising import Release as AnonymisedRecords

NOTHING = "[{}, []]"
"""A vertex that says nothing auxiliary."""
LARGEST_CLASS = 1000
LARGEST_LEVEL = 20
MOST_LEFT_OUT = 0.1


class Choices(TypedDict, total=False):
    """The parameters of protected records. `as_labels`: sensitive questions treated as quasi-identifiers; `asked`: auxiliary questions
    that an officer is asked to publish as they are.
    """

    k: int
    class_size: int
    l: dict[str, int]  # noqa: E741  # as it is stored
    suppress: float
    as_labels: list[str]
    anatomy: bool
    asked: list[str]


class Protection(Choices, total=False):
    """With the auxiliary questions that an officer confirmed, and the labels."""

    auxiliary: list[str]
    hierarchies: dict[str, Chains]


USUAL: Choices = {"k": 5, "class_size": 5, "l": {}, "suppress": 0.02, "as_labels": [], "anatomy": False, "asked": []}
"""The choices of somebody who has made none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A participant of a release: the random key, the row that becomes public, and the background answers."""

    key: str
    row: Row
    background: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Protected:
    """Records as they are published. `trees`: the record of each random key, without arm and answers; None: left out."""

    records: list[Record]
    suppressed: int
    loss: Mapping[str, object]
    trees: Mapping[str, Record | None]


class Manifest(TypedDict):
    """The published records, by the keys of their students."""

    trees: Mapping[str, Record | None]
    loss: Mapping[str, object]


def checked_choices(chosen: Mapping[str, object], schema: RecordSchema) -> Choices:
    """The parameters of protected records, if they are possible for some answers; ReleaseError with all that is wrong."""
    found: Any = {name: chosen.get(name, usual) for name, usual in USUAL.items()}
    if faults := faults_of_choices(found, schema):
        raise ReleaseError(" ".join(faults.values()))
    levels = {name: level for name, level in sorted(found["l"].items()) if level}
    return {
        "k": found["k"],
        "class_size": found["class_size"],
        "l": levels,
        "suppress": found["suppress"],
        "as_labels": sorted(found["as_labels"]),
        "anatomy": found["anatomy"],
        "asked": sorted(found["asked"]),
    }


def faults_of_choices(chosen: Mapping[str, Any], schema: RecordSchema) -> dict[str, str]:
    """A sentence for each parameter that is not possible, by its name; ℓ of an attribute is `l-` and its name."""
    k, size, levels, share = chosen["k"], chosen["class_size"], chosen["l"], chosen["suppress"]
    faults = {}
    if not _is_whole(k, 2, LARGEST_CLASS):
        faults["k"] = _("k: expected a whole number from 2 to %(most)s, found %(found)s.") % {"most": LARGEST_CLASS, "found": k}
    elif not _is_whole(size, k, LARGEST_CLASS):
        faults["class_size"] = _("Class size: expected a whole number from k = %(k)s to %(most)s, found %(found)s.") % {
            "k": k,
            "most": LARGEST_CLASS,
            "found": size,
        }
    is_number = isinstance(share, int | float) and not isinstance(share, bool)
    if not is_number or not 0 <= share <= MOST_LEFT_OUT:
        faults["suppress"] = _("Share left out: expected a number from 0 %% to %(most)s, found %(found)s.") % {
            "most": f"{number_format(f'{MOST_LEFT_OUT * 100:g}')} %",
            "found": f"{number_format(f'{share * 100:g}')} %" if is_number else share,
        }
    possible = {"as_labels": schema.labels, "asked": schema.auxiliary}
    for part, there in possible.items():
        if wrong := [name for name in chosen[part] if name not in there]:
            faults[part] = _("Expected some of the questions %(known)s, found %(found)s.") % {
                "known": ", ".join(there) or _("there are none"),
                "found": wrong[0],
            }
    if not isinstance(chosen["anatomy"], bool):
        faults["anatomy"] = _("Anatomy: expected yes or no, found %(found)s.") % {"found": chosen["anatomy"]}
    known = schema.sensitive_beside(chosen["as_labels"])
    for name, level in levels.items():
        if not level and name in schema.sensitive:
            continue
        if name not in known:
            faults[f"l-{name}"] = _("ℓ: expected sensitive questions (%(known)s), found %(found)s.") % {
                "known": ", ".join(known) or _("there are none"),
                "found": name,
            }
        elif not _is_whole(level, 0, LARGEST_LEVEL):
            faults[f"l-{name}"] = _("ℓ of %(name)s: expected a whole number from 0 to %(most)s, found %(found)s.") % {
                "name": name,
                "most": LARGEST_LEVEL,
                "found": level,
            }
    return faults


def _is_whole(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def protect(people: Sequence[Person], definition: StudyDefinition, protection: Protection, *, questions: Sequence[str]) -> Protected:
    """Records of which k look alike. Nothing but background answers takes part in it.

    Either nobody or at least `LEAST` people are left out: data.csv has the answers of all, so that fewer would stand out there.
    """
    from candor.records.loss import losses  # NumPy's friends, which web processes can do without

    asked = as_published(definition.asked, protection)
    trees_before = records_of(asked, [one.background for one in people])
    records: list[Record] = [{**tree, "released": {"arm": str(place)}} for place, tree in enumerate(trees_before)]
    anonymised = partial(_anonymised, records, protection, auxiliary=auxiliary_of(asked))
    release = anonymised(share=protection["suppress"])
    if 0 < release.suppressed < LEAST:
        release = anonymised(share=0)
    trees: dict[str, Record | None] = dict.fromkeys(one.key for one in people)
    for record in release.records:
        trees[people[int(record.pop("released")["arm"])].key] = record
    return _with_answers(people, trees, questions=questions, loss=losses(release).to_dict())


def still_asked(protection: Protection) -> list[str]:
    """The auxiliary attributes that an officer is asked to publish as they are, and has not confirmed."""
    return [name for name in protection.get("asked", ()) if name not in protection["auxiliary"]]


def confirmed(protection: Protection, names: Sequence[str]) -> Protection:
    """The parameters with auxiliary attributes that an officer confirms, each by its name. Each must be asked for."""
    asked = still_asked(protection)
    if not names or set(names) - set(asked):
        raise ReleaseError(
            _("Expected some of the questions %(asked)s by name, found %(found)s.")
            % {"asked": ", ".join(asked) or _("none"), "found": ", ".join(names) or _("none")}
        )
    return {**protection, "auxiliary": sorted({*protection["auxiliary"], *names})}


def confirmed_in(study: Study, definition: StudyDefinition, protection: Protection, names: Sequence[str]) -> Protection:
    """The same for a study, with the hierarchies that these answers need."""
    again = confirmed(protection, names)
    return {**again, "hierarchies": hierarchies_for(study, definition, again) | protection["hierarchies"]}


def _anonymised(records: list[Record], protection: Protection, *, auxiliary: Sequence[str], share: float) -> "AnonymisedRecords":
    from candor.records.anonymising import anonymize

    return anonymize(
        records,
        protection["hierarchies"],
        k=protection["k"],
        class_size=protection["class_size"],
        diversity=protection["l"],
        suppress=share,
        auxiliary=auxiliary,
        anatomy=protection.get("anatomy", False),
    )


def protect_again(people: Sequence[Person], manifest: bytes, *, questions: Sequence[str]) -> Protected:
    """The records that were published before, with the answers of this version: two versions together tell no more than one."""
    kept = opened(manifest)
    if set(kept["trees"]) != {one.key for one in people}:
        raise ReleaseError(_("Expected the people of the version before, found others: their records cannot be the same."))
    return _with_answers(people, kept["trees"], questions=questions, loss=kept["loss"])


def _with_answers(
    people: Sequence[Person], trees: Mapping[str, Record | None], *, questions: Sequence[str], loss: Mapping[str, object]
) -> Protected:
    """The records with arm, subsample and answers, in an order drawn anew; so are siblings, whose order would join two versions."""
    from candor.records.shuffling import shuffled

    told = [(one, tree) for one in people if (tree := trees[one.key]) is not None]
    records: list[Record] = [{**_in_another_order(tree), "released": _released(one.row, questions)} for one, tree in shuffled(told)]
    return Protected(records=records, suppressed=len(people) - len(records), loss=loss, trees=trees)


def _in_another_order(tree: Record) -> Record:
    from candor.records.shuffling import shuffled

    return {**tree, "children": [_in_another_order(child) for child in shuffled(tree["children"])]}


def _released(row: Row, questions: Sequence[str]) -> Released:
    return {"arm": row.arm, "subsample": row.subsample, "answers": dict(zip(questions, row.answers, strict=True))}


def hierarchies_for(study: Study, definition: StudyDefinition, protection: Choices | None = None) -> dict[str, Chains]:
    """The suggested hierarchies, with those that somebody edited in their place."""
    return hierarchies_of(study, suggested_hierarchies(as_published(definition.asked, protection or {})))


def hierarchies_of(whole: Study | DataSet, suggested: Mapping[str, Chains]) -> dict[str, Chains]:
    """The same for a study or a data set. An edited hierarchy stands as long as it has a place for every suggested value."""
    edited = RecordHierarchies.objects.filter(**key_of(whole)).values_list("document", flat=True).first() or {}
    return {name: edited[name] if set(edited.get(name, ())) >= set(chains) else chains for name, chains in suggested.items()}


def sealed(protected: Protected) -> bytes:
    """The manifest, which nobody can read without the secret of this installation."""
    document: Manifest = {"trees": protected.trees, "loss": protected.loss}
    return _cipher().encrypt(zlib.compress(json.dumps(document).encode()))


def opened(manifest: bytes) -> Manifest:
    """The content of a manifest; ReleaseError where it was sealed with another secret."""
    from cryptography.fernet import InvalidToken

    try:
        document: Manifest = json.loads(zlib.decompress(_cipher().decrypt(bytes(manifest))))
    except InvalidToken:
        raise ReleaseError(_("The manifest of the version before cannot be read: this server has another secret now.")) from None
    return document


def _cipher() -> "Fernet":
    from cryptography.fernet import Fernet

    secret = settings.RELEASE_SIGNING_SECRET or settings.SECRET_KEY
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(b"manifests of records " + secret.encode()).digest()))


def forget_manifests(sender: object, *, study_id: int, **kwargs: object) -> None:
    """The keys go with the operational data; a version after that cannot have the same records, so it has none."""
    Release.objects.filter(study=study_id).update(manifest=None)
