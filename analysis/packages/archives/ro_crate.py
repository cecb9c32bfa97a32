"""ro-crate-metadata.json: the package described as a Research Object Crate, version 1.1."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

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
    people = [{"@id": f"#author-{number}", "@type": "Person", "name": name} for number, name in enumerate(content.authors, start=1)]
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
        "author": [{"@id": one["@id"]} for one in people],
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
    return as_json({"@context": f"{SPECIFICATION}/context", "@graph": [descriptor, root, *people, licence, *parts]})


def _file(name: str, content: bytes | None) -> dict[str, object]:
    kind = MEDIA_TYPES.get(PurePosixPath(name).suffix, "text/plain")
    described: dict[str, object] = {"@id": name, "@type": "File", "name": name, "description": meaning_of(name), "encodingFormat": kind}
    if content is None:
        return described
    return {**described, "contentSize": str(len(content)), "sha256": hashlib.sha256(content).hexdigest()}
