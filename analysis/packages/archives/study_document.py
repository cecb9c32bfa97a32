"""study.yaml: the study as one file, which Candor reads back, with the hashes of the videos and pictures that it showed."""

from collections.abc import Mapping
from typing import cast

from surveys.definition import StudyDefinition
from surveys.study_file import document_of, dump

STUDY = "study.yaml"
LEFT_OUT = ("quiz", "entry", "translations", "release_plan")
NOBODY = "left out of public data"
HEAD = """\
# The study as it was run: Candor's import of studies and `candor plan --design` read this file.
# Left out: the contact, the quiz with its answers, the ways in, the names of sections, and what was planned for the release.
"""
FILES = """
# The files that people saw or heard are not in this package. Each has the SHA-256 below; a copy with another one was not shown.
"""


def study_document(definition: StudyDefinition, stimuli: Mapping[str, str]) -> str:
    """`stimuli` are the SHA-256 of the files of the protocol, by name."""
    document = {name: value for name, value in document_of(definition).items() if name not in LEFT_OUT} | {"contact": NOBODY}
    if definition.random_order:
        document["random_order"] = [part for part in definition.random_order if part != "quiz"]
    if definition.in_sections:
        document["allocation"] = {**cast("dict[str, object]", document["allocation"]), "sections": len(definition.sections)}
    lines = [f"# {stimuli[name]}  {name}" for name in sorted(definition.files()) if name in stimuli]
    return HEAD + dump(document) + ("\n".join([FILES.rstrip("\n"), *lines]) + "\n" if lines else "")
