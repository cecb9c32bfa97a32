"""ro-crate-metadata.json: the package described as a Research Object Crate, version 1.1."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from analysis.packages.archives.schema_org import facts, person
from analysis.packages.codebook import meaning_of
from analysis.packages.content import Content
from analysis.packages.protocol_document import as_json

CRATE = "ro-crate-metadata.json"
SPECIFICATION = "https://w3id.org/ro/crate/1.1"
MEDIA_TYPES = {
    ".cff": "application/yaml",
    ".csv": "text/csv",
    ".do": "text/plain",
    ".html": "text/html",
    ".json": "application/json",
    ".md": "text/markdown",
    ".pem": "application/x-pem-file",
    ".py": "text/x-python",
    ".R": "text/x-r",
    ".sps": "text/plain",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
}


def ro_crate(content: Content, files: Mapping[str, bytes], *, names: Sequence[str]) -> bytes:
    """`files` are those that exist already, with size and hash; `names` are all of the package, but for this one."""
    people = [{"@id": f"#author-{number}", **person(one)} for number, one in enumerate(content.publication.creators, start=1)]
    known = {name: value for name, value in facts(content).items() if name != "creator"}
    described, others = _flat({"author": people, **known})
    licence = {"@id": content.licence.address, "@type": "CreativeWork", "name": content.licence.title, "identifier": content.licence.name}
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": content.title,
        "description": content.description,
        "identifier": content.address,
        "url": content.address,
        "version": str(content.version),
        "datePublished": str(content.year),
        "keywords": ", ".join(content.keywords),
        "license": {"@id": content.licence.address},
        **described,
        "creditText": content.citation,
        "hasPart": [{"@id": name} for name in sorted(names)],
    }
    descriptor = {
        "@id": CRATE,
        "@type": "CreativeWork",
        "conformsTo": {"@id": SPECIFICATION},
        "about": {"@id": "./"},
    }
    parts = [_file(name, files.get(name)) for name in sorted(names)]
    return as_json({"@context": f"{SPECIFICATION}/context", "@graph": [descriptor, root, *others, licence, *parts]})


def _flat(described: Mapping[str, object]) -> tuple[dict[str, object], list[dict[str, object]]]:
    """The same with a reference in the place of each thing inside, and those things, as a crate wants them: each once, beside the rest."""
    found: dict[str, dict[str, object]] = {}

    def referred(value: object, name: str) -> object:
        if isinstance(value, list):
            return [referred(one, f"{name}-{number}") for number, one in enumerate(value, start=1)]
        if not isinstance(value, Mapping):
            return value
        key = str(value.get("@id", f"#{name}"))
        found[key] = {"@id": key, **{inner: referred(one, f"{name}-{inner}") for inner, one in value.items() if inner != "@id"}}
        return {"@id": key}

    root = {name: referred(value, name) for name, value in described.items()}
    return root, list(found.values())


def media_type(name: str) -> str:
    """The media type of a file of a package."""
    return MEDIA_TYPES.get(PurePosixPath(name).suffix, "text/plain")


def served_as(name: str) -> str:
    """The media type with which the file is sent; every text in a package is UTF-8."""
    kind = media_type(name)
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


def _file(name: str, content: bytes | None) -> dict[str, object]:
    described: dict[str, object] = {
        "@id": name,
        "@type": "File",
        "name": name,
        "description": meaning_of(name),
        "encodingFormat": media_type(name),
    }
    if content is None:
        return described
    return {**described, "contentSize": str(len(content)), "sha256": hashlib.sha256(content).hexdigest()}
