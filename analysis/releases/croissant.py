"""croissant.json: the data described in Croissant 1.0, for tools of machine learning and for search engines."""

import hashlib
from typing import Any

from analysis.releases.content import Content, columns_of
from analysis.releases.protocol_document import as_json

CROISSANT, DUBLIN_CORE = "http://mlcommons.org/croissant/", "http://purl.org/dc/terms/"
TERMS = (
    "citeAs column equivalentProperty extract field fileProperty fileObject fileSet format includes isLiveDataset jsonPath key md5 "
    "parentField path recordSet references regex repeated replace samplingRate separator source subField transform"
)
CONTEXT: dict[str, Any] = {
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


def croissant(content: Content, data: bytes) -> bytes:
    """`data` is data.csv."""
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"answers/{column.name}",
            "name": column.name,
            "description": column.label,
            "dataType": "sc:Integer" if column.is_answer else "sc:Text",
            "source": {"fileObject": {"@id": "data.csv"}, "extract": {"column": column.name}},
        }
        for column in columns_of(content)
    ]
    return as_json(
        {
            "@context": CONTEXT,
            "@type": "sc:Dataset",
            "conformsTo": f"{CROISSANT}1.0",
            "name": content.name,
            "alternateName": content.title,
            "description": content.description,
            "license": content.licence.address,
            "url": content.address,
            "version": f"{content.version}.0.0",
            "datePublished": str(content.year),
            "citeAs": content.citation,
            "creator": [{"@type": "sc:Person", "name": author} for author in content.authors],
            "distribution": [
                {
                    "@type": "cr:FileObject",
                    "@id": "data.csv",
                    "name": "data.csv",
                    "contentUrl": "data.csv",
                    "contentSize": f"{len(data)} B",
                    "encodingFormat": "text/csv",
                    "sha256": hashlib.sha256(data).hexdigest(),
                }
            ],
            "recordSet": [
                {"@type": "cr:RecordSet", "@id": "answers", "name": "answers", "description": "One row for each person.", "field": fields}
            ],
        }
    )
