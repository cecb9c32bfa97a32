"""Changing one part of a draft, without losing what somebody else changed in the meantime."""

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from surveys.drafting.edits import Edit, fingerprint_of
from surveys.errors import ConcurrentEditError
from surveys.lifecycle.steps import locked
from surveys.models import Study
from surveys.studies.services import change_definition
from surveys.study_file import define


@transaction.atomic
def change_part(study: Study, *, edit: Edit, value: object, loaded: str | None, actor: User) -> Study:
    """Put `value` in its place in the draft. `loaded` is the fingerprint of the value there when the change was begun.

    Raises ConcurrentEditError if another value is there now. Changes in other places are kept, so several people can build at once.
    """
    study = locked(study)
    found = edit.current(study.definition)
    if loaded is not None and fingerprint_of(found) not in (loaded, fingerprint_of(value)):
        raise ConcurrentEditError(
            _("Expected the part with the fingerprint %(loaded)s, found %(found)s.")
            % {"loaded": loaded[:64], "found": fingerprint_of(found)}
        )
    return change_definition(study, definition=define(edit.merged(study.definition, value)), actor=actor)
