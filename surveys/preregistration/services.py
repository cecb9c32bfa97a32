"""Keeping the plan of an approved protocol."""

import hashlib

from django.utils import timezone

from accounts.models import User
from audit.services import record
from surveys import actions
from surveys.models import Preregistration, Protocol
from surveys.preregistration.documents import preregistration_document, text_of
from surveys.study_file import define


def preregister(protocol: Protocol, *, actor: User) -> Preregistration:
    """Keep the plan of a protocol that was just approved; one that is approved again keeps the plan that it has. In a transaction."""
    if (found := Preregistration.objects.filter(protocol=protocol).first()) is not None:
        return found
    today = timezone.localdate()
    text = text_of(
        preregistration_document(define(protocol.definition), version=protocol.version, sha256=protocol.sha256, registered_on=today)
    )
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    kept = Preregistration.objects.create(protocol=protocol, document=text, sha256=sha256, registered_on=today)
    record(actor=actor, action=actions.PREREGISTERED, subject=protocol.study, details={"version": protocol.version, "sha256": sha256})
    return kept
