"""Zenodo, by its deposit API: https://developers.zenodo.org."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import quote

from analysis.deposits.connection import Connection, Request, at, list_at, text_at
from analysis.deposits.description import Description
from analysis.deposits.found import Found

DEPOSITS = "api/deposit/depositions"
SAME, PAGES, PER_PAGE = "isIdenticalTo", 20, 100
OPEN = "inprogress"
"""The state of a public record that is being changed. Zenodo refuses to open it twice."""
LICENCES = {"CC0-1.0": "cc-zero", "CC-BY-4.0": "cc-by-4.0", "ODbL-1.0": "odc-odbl"}


@dataclass(frozen=True, slots=True)
class Zenodo:
    connection: Connection
    collection: str = ""
    """A community that is asked to take the deposit."""

    label: ClassVar[str] = "Zenodo"
    usual_address: ClassVar[str] = "https://zenodo.org"

    @staticmethod
    def header(token: str) -> tuple[str, str]:
        return "Authorization", f"Bearer {token}"

    @staticmethod
    def wants(description: Description) -> str:
        """Nothing is missing: every release has authors and a title."""
        return ""

    def find(self, description: Description) -> Found | None:
        """A deposit of these data that was made before, whatever became of the answer."""
        for page in range(1, PAGES + 1):
            answer = self.connection.send(Request(method="GET", address=f"{DEPOSITS}?size={PER_PAGE}&page={page}&sort=mostrecent"))
            found = list_at({"all": answer}, "all")
            for one in found:
                if any(
                    text_at(same, "identifier") == description.address and text_at(same, "relation") == SAME
                    for same in list_at(one, "metadata", "related_identifiers")
                ):
                    return _found(one)
            if len(found) < PER_PAGE:
                break
        return None

    def look(self, number: str) -> Found | None:
        answer = self.connection.send(Request(method="GET", address=f"{DEPOSITS}/{quote(number)}", may_be_absent=True))
        return None if answer is None else _found(answer)

    def reserve(self, description: Description) -> Found:
        document = {"metadata": {**self._metadata(description), "prereserve_doi": True}}
        return _found(self.connection.send(Request(method="POST", address=DEPOSITS, document=document)))

    def publish(self, number: str, description: Description, files: Mapping[str, bytes], tell: Callable[[int], None]) -> Found:
        here = f"{DEPOSITS}/{quote(number)}"
        answer = self.connection.send(Request(method="PUT", address=here, document={"metadata": self._metadata(description)}))
        bucket = text_at(answer, "links", "bucket")
        there = {text_at(one, "filename"): text_at(one, "checksum").removeprefix("md5:") for one in list_at(answer, "files")}
        for sent, (name, content) in enumerate(sorted(files.items()), start=1):
            if there.get(name) != hashlib.md5(content, usedforsecurity=False).hexdigest():
                self.connection.send(Request(method="PUT", address=f"{bucket}/{quote(name)}", file=name), body=content)
            tell(sent)
        return _found(self.connection.send(Request(method="POST", address=f"{here}/actions/publish")))

    def give_back(self, number: str) -> None:
        self.connection.send(Request(method="DELETE", address=f"{DEPOSITS}/{quote(number)}", may_be_absent=True))

    def withdraw(self, number: str, description: Description, reason: str) -> None:
        """Zenodo deletes nothing that is public: the record says that the data were retracted, and its files are closed."""
        here = f"{DEPOSITS}/{quote(number)}"
        if text_at(self.connection.send(Request(method="GET", address=here)), "state") != OPEN:
            self.connection.send(Request(method="POST", address=f"{here}/actions/edit"))
        metadata = {**self._metadata(description), "title": f"Retracted: {description.title}", "access_right": "closed", "notes": reason}
        metadata.pop("license")
        self.connection.send(Request(method="PUT", address=here, document={"metadata": metadata}))
        self.connection.send(Request(method="POST", address=f"{here}/actions/publish"))

    def _metadata(self, description: Description) -> dict[str, object]:
        known = description.publication
        found: dict[str, object] = {
            "upload_type": "dataset",
            "title": description.title,
            "creators": [
                {"name": one.name}
                | ({"affiliation": one.institution} if one.institution else {})
                | ({"orcid": one.orcid} if one.orcid else {})
                for one in known.creators
            ],
            "description": description.html,
            "access_right": "open",
            "license": LICENCES[description.licence.name],
            "keywords": list(description.keywords),
            "version": str(description.version),
            "language": "eng",
            "related_identifiers": [{"identifier": description.address, "relation": SAME, "resource_type": "dataset"}],
        }
        if description.published_on:
            found["publication_date"] = description.published_on
        if known.contact:
            found["contributors"] = [{"name": known.contact.name, "type": "ContactPerson"}]
        if self.collection:
            found["communities"] = [{"identifier": self.collection}]
        return found

    @staticmethod
    def rehearsed(request: Request) -> object:
        if request.method == "GET":
            return []
        doi = {"doi": "10.5281/zenodo.NUMBER"}
        return {"id": "NUMBER", "metadata": {"prereserve_doi": doi}, "links": {"bucket": "api/files/BUCKET"}, "submitted": False}


def _found(answer: object) -> Found:
    number = text_at(answer, "id")
    doi = text_at(answer, "doi") or text_at(answer, "metadata", "doi") or text_at(answer, "metadata", "prereserve_doi", "doi")
    return Found.checked(Zenodo.label, number=number, doi=doi, is_public=at(answer, "submitted") is True)
