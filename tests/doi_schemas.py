"""Requests of Zenodo, Dataverse and the OSF as their public documentation describes them, as JSON Schemas: written from it, for tests.

Zenodo: https://developers.zenodo.org (deposition metadata); Dataverse: https://guides.dataverse.org, native API; the OSF:
https://developer.osf.io (nodes, identifiers). A property that the documentation does not know is refused.
"""

TEXT = {"type": "string", "minLength": 1}
ORCID = {"type": "string", "pattern": r"^\d{4}-\d{4}-\d{4}-\d{3}[\dX]$"}


def closed(properties: dict[str, object], *required: str) -> dict[str, object]:
    """An object with these properties and no others."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def some(items: object, *, least: int = 1) -> dict[str, object]:
    return {"type": "array", "items": items, "minItems": least}


ZENODO_METADATA = closed(
    {
        "upload_type": {"enum": ["publication", "poster", "presentation", "dataset", "image", "video", "software", "lesson", "other"]},
        "publication_date": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
        "title": TEXT,
        "creators": some(closed({"name": TEXT, "affiliation": TEXT, "orcid": ORCID, "gnd": TEXT}, "name")),
        "description": TEXT,
        "access_right": {"enum": ["open", "embargoed", "restricted", "closed"]},
        "license": TEXT,
        "prereserve_doi": {"type": "boolean"},
        "keywords": some(TEXT),
        "notes": TEXT,
        "related_identifiers": some(closed({"identifier": TEXT, "relation": TEXT, "resource_type": TEXT}, "identifier", "relation")),
        "contributors": some(closed({"name": TEXT, "type": TEXT, "affiliation": TEXT, "orcid": ORCID}, "name", "type")),
        "communities": some(closed({"identifier": TEXT}, "identifier")),
        "version": TEXT,
        "language": {"type": "string", "pattern": "^[a-z]{3}$"},
    },
    "upload_type",
    "title",
    "creators",
    "description",
    "access_right",
)
# A license is needed where access is open or embargoed.
ZENODO_METADATA |= {"if": {"properties": {"access_right": {"const": "open"}}}, "then": {"required": ["license"]}}
ZENODO = closed({"metadata": ZENODO_METADATA}, "metadata")


def primitive(name: str, *, kind: str = "primitive") -> dict[str, object]:
    return closed(
        {"typeName": {"const": name}, "multiple": {"const": False}, "typeClass": {"const": kind}, "value": TEXT},
        "typeName",
        "multiple",
        "typeClass",
        "value",
    )


def compound(name: str, *inner: str, needed: tuple[str, ...]) -> dict[str, object]:
    of = {one: primitive(one, kind="controlledVocabulary" if one == "authorIdentifierScheme" else "primitive") for one in inner}
    return closed(
        {
            "typeName": {"const": name},
            "multiple": {"const": True},
            "typeClass": {"const": "compound"},
            "value": some(closed(dict(of), *needed)),
        },
        "typeName",
        "multiple",
        "typeClass",
        "value",
    )


SUBJECT = closed(
    {
        "typeName": {"const": "subject"},
        "multiple": {"const": True},
        "typeClass": {"const": "controlledVocabulary"},
        "value": some({"enum": ["Social Sciences", "Medicine, Health and Life Sciences", "Other"]}),
    },
    "typeName",
    "multiple",
    "typeClass",
    "value",
)
FIELDS = [
    primitive("title"),
    compound("author", "authorName", "authorAffiliation", "authorIdentifierScheme", "authorIdentifier", needed=("authorName",)),
    compound("datasetContact", "datasetContactName", "datasetContactEmail", needed=("datasetContactEmail",)),
    compound("dsDescription", "dsDescriptionValue", needed=("dsDescriptionValue",)),
    SUBJECT,
    compound("keyword", "keywordValue", needed=("keywordValue",)),
    compound("otherId", "otherIdAgency", "otherIdValue", needed=("otherIdValue",)),
    compound("grantNumber", "grantNumberAgency", "grantNumberValue", needed=("grantNumberAgency",)),
    compound("dateOfCollection", "dateOfCollectionStart", "dateOfCollectionEnd", needed=()),
]
DATAVERSE_VERSION = closed(
    {
        "metadataBlocks": closed(
            {
                "citation": closed(
                    {
                        "displayName": TEXT,
                        "fields": {
                            "type": "array",
                            "items": {"oneOf": FIELDS},
                            "allOf": [
                                {"contains": {"properties": {"typeName": {"const": name}}}}
                                for name in ("title", "author", "datasetContact", "dsDescription", "subject")
                            ],
                        },
                    },
                    "fields",
                )
            },
            "citation",
        ),
        "license": closed({"name": TEXT, "uri": {"type": "string", "pattern": "^http://creativecommons.org/"}}, "name", "uri"),
        "termsOfUse": TEXT,
    },
    "metadataBlocks",
)
DATAVERSE = closed({"datasetVersion": DATAVERSE_VERSION}, "datasetVersion")
DATAVERSE_FILE = closed(
    {"description": {"type": "string"}, "restrict": {"enum": ["true", "false"]}, "tabIngest": {"enum": ["true", "false"]}},
)
DEACCESSION = closed({"deaccessionReason": TEXT, "deaccessionForwardURL": TEXT}, "deaccessionReason")

OSF_ATTRIBUTES = {
    "title": {"type": "string", "minLength": 1, "maxLength": 512},
    "description": {"type": "string"},
    "category": {"enum": ["analysis", "communication", "data", "hypothesis", "methods and measures", "project", "other", ""]},
    "tags": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 1024}},
    "public": {"type": "boolean"},
}
OSF_NEW = closed(
    {"data": closed({"type": {"const": "nodes"}, "attributes": closed(dict(OSF_ATTRIBUTES), "title", "category")}, "type", "attributes")},
    "data",
)
OSF_CHANGE = closed(
    {"data": closed({"type": {"const": "nodes"}, "id": TEXT, "attributes": closed(dict(OSF_ATTRIBUTES))}, "type", "id", "attributes")},
    "data",
)
OSF_IDENTIFIER = closed(
    {
        "data": closed(
            {"type": {"const": "identifiers"}, "attributes": closed({"category": {"const": "doi"}}, "category")}, "type", "attributes"
        )
    },
    "data",
)
