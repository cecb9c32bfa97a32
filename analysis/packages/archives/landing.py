"""The public page of a package as programs read it: search engines by schema.org, reference managers by the tags of Highwire Press."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import wraps
from typing import Any, ParamSpec, Self, TypeVar

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.safestring import SafeString, mark_safe

from analysis.packages.archives.schema_org import DOI_SITE, facts_of
from analysis.packages.licences import Licence
from surveys.questions.publication import Publication

P = ParamSpec("P")
R = TypeVar("R", bound=HttpResponseBase)
ESCAPED = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
"""Signs that could end a script, as JSON may write them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """A public package. `address` and `files`, which have media types, are complete addresses; the package itself comes first."""

    title: str
    description: str
    publication: Publication
    keywords: Sequence[str]
    doi: str
    version: int
    day: date
    licence: Licence
    address: str
    files: Mapping[str, str]
    described_by: str = ""
    """The address of the description in DataCite's schema; empty where there is none."""

    @classmethod
    def at(cls, request: HttpRequest, address: str, *, files: Mapping[str, str], **facts: Any) -> Self:
        """A page at `address` on the site of this request, with files there."""
        complete = request.build_absolute_uri
        return cls(address=complete(address), files={complete(file): kind for file, kind in files.items()}, **facts)

    @property
    def schema_org(self) -> SafeString:
        """A Dataset of schema.org as JSON-LD, for a script element."""
        document = {
            "@context": "https://schema.org/",
            "@type": "Dataset",
            "name": self.title,
            "description": self.description,
            "url": self.address,
            "identifier": [self.address, f"{DOI_SITE}{self.doi}"] if self.doi else self.address,
            "version": str(self.version),
            "datePublished": self.day.isoformat(),
            "license": self.licence.address,
            "isAccessibleForFree": True,
            "keywords": list(self.keywords),
            **facts_of(self.publication, doi=self.doi),
            "distribution": [{"@type": "DataDownload", "contentUrl": file, "encodingFormat": kind} for file, kind in self.files.items()],
        }
        return mark_safe(json.dumps(document, ensure_ascii=False).translate(ESCAPED))  # noqa: S308  # no sign is left that ends a script


def for_every_site(view: Callable[P, R]) -> Callable[P, R]:
    """Let pages of other sites read what everybody may read. Browsers send no cookie with such a request."""

    @wraps(view)
    def answer(*args: P.args, **kwargs: P.kwargs) -> R:
        response = view(*args, **kwargs)
        response["Access-Control-Allow-Origin"] = "*"
        return response

    return answer
