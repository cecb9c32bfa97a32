"""The proposal of an uploaded file for one study, read in a process of its own."""

from typing import IO, cast

from django.utils.translation import gettext as _

from surveys.definition import StudyDefinition
from surveys.imports.files import LARGEST
from surveys.imports.reading import Proposal
from surveys.reading.apart import NotReadError, read_apart
from surveys.reading.readers import QUESTIONS


def proposal_from(file: IO[bytes], definition: StudyDefinition) -> Proposal:
    """The proposal of the file for this study; a NotReadError names what is wrong with it. `file` is an upload, with its name and size."""
    if (getattr(file, "size", 0) or 0) > LARGEST:
        raise NotReadError([_("Choose a file of at most %(most)s MB.") % {"most": LARGEST // 1024**2}])
    present = [question.name for question in (*definition.background, *definition.privatised_background)]
    source = str(getattr(file, "name", None) or _("the file"))
    found = read_apart(file, reader=QUESTIONS, source=source, languages=list(definition.languages), present=present)
    return cast(Proposal, found)
