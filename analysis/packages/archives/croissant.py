"""croissant.json: the data described in Croissant 1.0, for tools of machine learning and for search engines."""

import hashlib
from collections.abc import Mapping, Sequence

from analysis.packages.archives.schema_org import facts
from analysis.packages.content import Content, Described, columns_of
from analysis.packages.protocol_document import as_json

CROISSANT, DUBLIN_CORE = "http://mlcommons.org/croissant/", "http://purl.org/dc/terms/"
TERMS = (
    "citeAs column equivalentProperty extract field fileProperty fileObject fileSet format includes isLiveDataset jsonPath key md5 "
    "parentField path recordSet references regex repeated replace samplingRate separator source subField transform"
)
COUNTED = "Counts of background answers over everybody."
COUNTS = (
    ("question", "Name of the background question", "sc:Text"),
    ("answer", "Name of the answer", "sc:Text"),
    ("count", "How many gave it; empty: hidden because small, or so that small ones cannot be worked out", "sc:Integer"),
)
CONTEXT: dict[str, object] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": CROISSANT,
    "rai": f"{CROISSANT}RAI/",
    "dct": DUBLIN_CORE,
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in TERMS.split()},
}


def croissant(content: Content, tables: Mapping[str, bytes], documents: Mapping[str, bytes]) -> bytes:
    """`tables` are the CSV files of the package, `documents` the JSON files of its records, by name."""
    answers = [(column.name, column.label, "sc:Integer" if column.is_number else "sc:Text") for column in columns_of(content)]
    records = [_records("answers", f"One row for each {content.unit}.", answers, path="data.csv")]
    if content.background is not None:
        records.append(_records("background-counts", COUNTED, COUNTS, path="background-counts.csv"))
    return dataset(content, tables, documents, records)


def dataset(
    content: Described, tables: Mapping[str, bytes], documents: Mapping[str, bytes], records: Sequence[Mapping[str, object]] = ()
) -> bytes:
    """The files of a package, and the columns of its tables."""
    return as_json(
        {
            "@context": CONTEXT,
            "@type": "sc:Dataset",
            "conformsTo": f"{CROISSANT}1.0",
            "name": content.name,
            "alternateName": content.title,
            "description": content.description,
            "keywords": content.keywords,
            "license": content.licence.address,
            "url": content.address,
            "version": f"{content.version}.0.0",
            "datePublished": str(content.year),
            "citeAs": content.citation,
            **facts(content),
            "distribution": [
                *(file_object(name, table, "text/csv") for name, table in tables.items()),
                *(file_object(name, document, "application/json") for name, document in documents.items()),
            ],
            "recordSet": list(records),
        }
    )


def file_object(name: str, content: bytes, kind: str) -> dict[str, object]:
    """A file of a package; `kind` is its media type."""
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{len(content)} B",
        "encodingFormat": kind,
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _records(name: str, description: str, columns: Sequence[tuple[str, str, str]], *, path: str) -> dict[str, object]:
    """`columns` are name, meaning and type."""
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{name}/{column}",
            "name": column,
            "description": meaning,
            "dataType": kind,
            "source": {"fileObject": {"@id": path}, "extract": {"column": column}},
        }
        for column, meaning, kind in columns
    ]
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "description": description, "field": fields}
