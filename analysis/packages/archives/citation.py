"""CITATION.cff and LICENSE: how to cite a package, for programs, and under which licence it is."""

from analysis.packages.content import Described
from surveys.study_file import dump

CITATION, LICENCE = "CITATION.cff", "LICENSE"


def citation_file(content: Described) -> bytes:
    """The Citation File Format 1.2.0."""
    authors = [_author(author) for author in content.authors]
    cited = {"type": "data", "title": content.title, "year": content.year, "url": content.address, "authors": authors}
    document = {
        "cff-version": "1.2.0",
        "message": "If you use these data, please cite them as below.",
        "type": "dataset",
        "title": content.title,
        "version": str(content.version),
        "license": content.licence.name,
        "license-url": content.licence.address,
        "url": content.address,
        "abstract": content.description,
        "keywords": list(content.keywords),
        "authors": authors,
        "preferred-citation": cited,
    }
    return dump(document).encode()


def licence_file(content: Described) -> bytes:
    """What the licence covers, in words, and where its legal text stands."""
    lines = [
        f"{content.title}, version {content.version}",
        f"by {'; '.join(content.authors)}, {content.year}",
        "",
        f"Licence of all files in this package: {content.terms}",
        f"SPDX-License-Identifier: {content.licence.name}",
        "",
        content.licence.meaning.replace("name you", "name the authors"),
        "",
        "The legal text, which alone is binding, stands at",
        content.licence.address,
        "",
        "The programs in this package (Python, R, and the scripts in index.html) are parts of Candor, under the Apache License 2.0.",
    ]
    return ("\n".join(lines) + "\n").encode()


def _author(author: str) -> dict[str, str]:
    """“Family, Given” is a person; any other name is taken as it is."""
    family, _comma, given = author.partition(", ")
    return {"family-names": family, "given-names": given} if family and given else {"name": author}
