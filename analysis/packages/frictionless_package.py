"""datapackage.json: the data described as a Frictionless Data Package (version 2 of the standard)."""

import hashlib
from collections.abc import Mapping, Sequence

from analysis.packages.content import Column, Content, Described, columns_of
from analysis.packages.protocol_document import as_json
from candor.packages.record_promises import HIERARCHIES, RECORDS
from surveys.questions.publication import Creator

PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
TITLES = {RECORDS: "Background answers as protected records", HIERARCHIES: "The labels of records, from each value up to *"}
DIALECT = {"delimiter": ",", "lineTerminator": "\n"}


def frictionless_package(content: Content, tables: Mapping[str, bytes], documents: Mapping[str, bytes]) -> bytes:
    """`tables` are the CSV files of the package, `documents` the JSON files of its records, by name."""
    fields: list[dict[str, object]] = [
        {
            "name": column.name,
            "title": column.label,
            "type": "integer" if column.is_number else "string",
            "constraints": _constraints(column),
        }
        for column in columns_of(content)
    ]
    resources = [_table("data", "Reported answers", fields, tables["data.csv"], path="data.csv")]
    if "background-counts.csv" in tables:
        counted: list[dict[str, object]] = [
            {"name": "question", "type": "string", "constraints": {"required": True}},
            {"name": "answer", "type": "string", "constraints": {"required": True}},
            {"name": "count", "type": "integer", "description": "Empty: hidden because small."},
        ]
        title = "Counts of background answers over everybody"
        resources.append(_table("background-counts", title, counted, tables["background-counts.csv"], path="background-counts.csv"))
    for name, text in documents.items():
        resources.append(document_resource(name, text))
    return described(content, resources)


def described(content: Described, resources: Sequence[Mapping[str, object]]) -> bytes:
    """The package, with the description of each of its files."""
    licence = {"name": content.licence.name, "title": content.terms, "path": content.licence.address}
    return as_json(
        {
            "$schema": PROFILE,
            "name": content.name,
            "id": content.address,
            "title": content.title,
            "description": content.description,
            "homepage": content.address,
            "version": f"{content.version}.0.0",
            "licenses": [licence],
            "contributors": [_contributor(author) for author in content.publication.creators],
            "keywords": content.keywords,
            "resources": resources,
        }
    )


def _contributor(author: Creator) -> dict[str, object]:
    """The ORCID stands in the path, where the standard wants an address of the contributor."""
    named = {"givenName": author.parts[1], "familyName": author.parts[0]} if author.parts else {}
    known = {"path": author.orcid_address, "organization": author.institution}
    return {"title": author.name, **named, "roles": ["author", *author.roles], **{name: value for name, value in known.items() if value}}


def _constraints(column: Column) -> dict[str, object]:
    if column.is_answer:
        return {"enum": [int(value) if column.is_number else value for value in column.values]}
    return {"required": True, "enum": list(column.values)}


def _table(name: str, title: str, fields: list[dict[str, object]], table: bytes, *, path: str) -> dict[str, object]:
    return {
        "name": name,
        "title": title,
        "type": "table",
        "path": path,
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "bytes": len(table),
        "hash": f"sha256:{hashlib.sha256(table).hexdigest()}",
        "dialect": DIALECT,
        "schema": {"fields": fields, "missingValues": [""]},
    }


def document_resource(name: str, document: bytes) -> dict[str, object]:
    """A JSON file of records."""
    return {
        "name": name.removesuffix(".json"),
        "title": TITLES[name],
        "path": name,
        "format": "json",
        "mediatype": "application/json",
        "encoding": "utf-8",
        "bytes": len(document),
        "hash": f"sha256:{hashlib.sha256(document).hexdigest()}",
    }
