"""Templates: complete studies in words of our own, with gaps that only the people who run a study can fill: who runs it, whom to ask,
and who hears complaints; where a study may upset people, also who helps them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from accounts.models import User
from surveys.drafting.starter import starter_document
from surveys.models import Study
from surveys.questions.parts import Text
from surveys.studies.exchange import free_slug
from surveys.studies.services import create_study
from surveys.study_file import define

FOLDER = Path(__file__).resolve().parents[1] / "sample" / "gallery"
NAMES = (
    "exam-cheating",
    "academic-dishonesty",
    "substance-use",
    "harassment-climate",
    "teaching-evaluation",
    "vaccination-attitudes",
)
LANGUAGES = ("en", "de")


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """`document` is a study's, without a slug; `source` names the published study that asked something like it."""

    name: str
    about: Text
    source: str
    document: Mapping[str, object]

    def for_slug(self, slug: str) -> dict[str, object]:
        return {**self.document, "slug": slug}


@cache
def templates() -> tuple[Template, ...]:
    """All templates, in the order in which they are offered."""
    return tuple(_read(name) for name in NAMES)


def study_from_template(name: str, *, owner: User, slug: str = "") -> Study:
    """A draft of one's own; at a free address, if none is wanted."""
    template = next(one for one in templates() if one.name == name)
    slug = slug or free_slug(name)
    return create_study(definition=define(template.for_slug(slug)), owner=owner)


def _read(name: str) -> Template:
    """The parts that a template tells, in the frame of every new study."""
    told = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    about, source, in_the_consent = told.pop("about"), told.pop("source"), told.pop("told")
    frame = starter_document(slug=name, title=name, languages=LANGUAGES, survey="arms" not in told, told=in_the_consent)
    return Template(name=name, about=Text(about), source=source, document={**frame, **told})
