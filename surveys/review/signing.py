"""Readers of a protocol: the officer to whom it is assigned, the parts that each officer signs, and the second reader."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Role, User
from audit.services import record
from surveys import actions
from surveys.access import Seat
from surveys.errors import TransitionError
from surveys.lifecycle.notices import Audience, record_and_tell
from surveys.lifecycle.steps import locked
from surveys.models import SIGNED_PARTS, Protocol, SignOff, Study


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """The officers' signatures under one version, by part."""

    by_part: Mapping[str, tuple[User, ...]]
    parts: int = len(SIGNED_PARTS)

    @property
    def counts(self) -> dict[User, int]:
        """How many parts each officer has signed."""
        officers = [officer for signers in self.by_part.values() for officer in signers]
        return {officer: officers.count(officer) for officer in dict.fromkeys(officers)}

    def readers(self) -> list[User]:
        """The officers who have signed every part."""
        return [officer for officer, count in self.counts.items() if count == self.parts]


def signed_in(protocol: Protocol | None) -> Signed:
    """Every signature under this version, with an empty tuple for a part that nobody signed."""
    found: dict[str, tuple[User, ...]] = dict.fromkeys(SIGNED_PARTS, ())
    for one in SignOff.objects.filter(protocol=protocol).select_related("officer") if protocol and protocol.pk else ():
        found[one.part] += (one.officer,)
    return Signed(by_part=found)


@transaction.atomic
def sign(study: Study, *, actor: User, part: str, version: int, signed: bool = True) -> None:
    """Sign one part of the version that waits for a decision, or take the signature back."""
    study, protocol = submitted_to(study, actor=actor, version=version)
    if part not in SIGNED_PARTS:
        raise ValidationError({"part": _("There is no such part of a protocol: %(part)s.") % {"part": part[:50]}})
    mine = protocol.sign_offs.filter(part=part, officer=actor)
    if mine.exists() == signed:
        return
    if signed:
        protocol.sign_offs.create(part=part, officer=actor, signed_on=timezone.localdate())
    else:
        mine.delete()
    action = actions.PART_SIGNED if signed else actions.SIGNATURE_TAKEN_BACK
    record(actor=actor, action=action, subject=study, details={"version": version, "part": part})


def submitted_to(study: Study, *, actor: User, version: int | None) -> tuple[Study, Protocol]:
    """The study, locked, and its submitted version, if this officer may decide on it and has read that very version."""
    study = locked(study)
    require_reviewer(study, actor)
    if study.submitted is None:
        raise TransitionError(_("Nothing of this study waits for a decision. Somebody else may have decided already."))
    if version is not None and version != study.submitted.version:
        newer = _("You have read version %(read)s, but version %(waits)s waits for a decision now.")
        raise TransitionError(newer % {"read": version, "waits": study.submitted.version})
    return study, study.submitted


def require_reviewer(study: Study, actor: User) -> None:
    if not Seat(actor, study).may_review:
        raise TransitionError(_("Only an IRB officer who has no part in the study can decide about it."))


def require_second_reader(study: Study, protocol: Protocol, *, actor: User) -> None:
    """Another officer, who may review the study today, has signed every part of this version."""
    others = [one for one in signed_in(protocol).readers() if one != actor and one.is_active and Seat(one, study).may_review]
    if not others:
        raise TransitionError(
            _("This installation asks for a second reader: another officer signs every part of the protocol before you approve it.")
        )


def possible_reviewers(study: Study) -> list[User]:
    """The officers who may review this study."""
    officers = User.objects.filter(role=Role.IRB_OFFICER, is_active=True).order_by("username")
    return [officer for officer in officers if Seat(officer, study).may_review]


def reviewer_of(study: Study) -> User | None:
    """The officer to whom the review is assigned; nobody, if that officer may not review it any more."""
    assigned = study.reviewer
    return assigned if assigned is not None and assigned.is_active and Seat(assigned, study).may_review else None


@transaction.atomic
def assign(study: Study, *, actor: User, reviewer: str) -> Study:
    """Assign the review to an officer, by user name; to nobody, if the name is empty."""
    study = locked(study)
    require_reviewer(study, actor)
    found = next((one for one in possible_reviewers(study) if one.get_username() == reviewer), None)
    if reviewer and found is None:
        expected = _("Expected the user name of an IRB officer who has no part in the study, found %(found)s.")
        raise ValidationError({"reviewer": expected % {"found": reviewer[:150]}})
    if study.reviewer != found:
        study.reviewer = found
        study.save(update_fields=["reviewer"])
        record_and_tell(Audience.REVIEWER, actor=actor, action=actions.ASSIGNED, study=study, details={"reviewer": reviewer})
    return study
