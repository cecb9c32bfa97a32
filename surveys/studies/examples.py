"""The project's example studies, from which a new study can begin: their files and their lectures."""

from contextlib import ExitStack
from pathlib import Path

from django.core.files import File
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from accounts.models import User
from surveys.models import Study
from surveys.studies.exchange import free_slug, import_study, with_slug
from surveys.study_file import read_study_file

SAMPLE = Path(__file__).resolve().parents[1] / "sample"
EXAMPLES: dict[str, Promise] = {
    "lecture-videos": gettext_lazy("The demonstration: a lecture with or without the face of the person who teaches, and little else."),
    "recorded-lectures": gettext_lazy(
        "A published study again, in other words: a background with courses, letter grades and scales, a quiz, and four sensitive "
        "questions."
    ),
}
"""The name of each example, which is that of its file, and what it is."""


def study_from_example(name: str, *, owner: User, slug: str = "") -> Study:
    """A draft of one's own with everything that the example has; at a free address, if none is wanted."""
    file = SAMPLE / f"{name}.yaml"
    definition = read_study_file(file.read_text(encoding="utf-8"), source=file.name)
    slug = slug or free_slug(name)
    with ExitStack() as opened:
        media = {one: File(opened.enter_context((SAMPLE / "lectures" / one).open("rb")), name=one) for one in sorted(definition.files())}
        return import_study(with_slug(definition, slug), media=media, owner=owner)
