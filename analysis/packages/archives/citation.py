"""CITATION.cff and LICENSE: how to cite a package, for programs, and under which licence it is."""

from analysis.packages.content import Described
from surveys.questions.publication import Creator, DataContact
from surveys.study_file import dump

CITATION, LICENCE = "CITATION.cff", "LICENSE"


def citation_file(content: Described) -> bytes:
    """The Citation File Format 1.2.0."""
    authors = [_author(author) for author in content.publication.creators]
    contact = content.publication.contact
    doi = {"doi": content.doi} if content.doi else {}
    cited = {"type": "data", "title": content.title, "year": content.year, **doi, "url": content.address, "authors": authors}
    document = {
        "cff-version": "1.2.0",
        "message": "If you use these data, please cite them as below.",
        "type": "dataset",
        "title": content.title,
        "version": str(content.version),
        "license": content.licence.name,
        "license-url": content.licence.address,
        **doi,
        "url": content.address,
        "abstract": content.description,
        "keywords": list(content.keywords),
        "authors": authors,
        **({"contact": [_contact(contact)]} if contact else {}),
        "preferred-citation": cited,
    }
    return dump(document).encode()


def licence_file(content: Described) -> bytes:
    """The name of the licence, its meaning in words, and the address of its legal text."""
    lines = [
        f"{content.title}, version {content.version}",
        f"by {'; '.join(content.publication.authors)}, {content.year}",
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


def _author(author: Creator) -> dict[str, str]:
    """“Family, Given” is a person; any other name is taken as it is, and the format knows no institution of it."""
    orcid = {"orcid": author.orcid_address} if author.orcid else {}
    if author.parts is None:
        return {"name": author.name, **orcid}
    institution = {"affiliation": author.institution} if author.institution else {}
    return {"family-names": author.parts[0], "given-names": author.parts[1], **orcid, **institution}


def _contact(contact: DataContact) -> dict[str, str]:
    return {"name": contact.name, **({"email": contact.email} if contact.email else {})}
