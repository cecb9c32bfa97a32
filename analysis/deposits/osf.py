"""The Open Science Framework, by its API v2: https://developer.osf.io. A deposit is a project, whose DOI follows from its number."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar
from urllib.parse import quote

from django.utils.translation import gettext as _

from analysis.deposits.connection import Connection, Request, at, list_at, text_at
from analysis.deposits.description import Description
from analysis.deposits.errors import DepositError
from analysis.deposits.found import Found

NODES = "v2/nodes/"


@dataclass(frozen=True, slots=True)
class Osf:
    connection: Connection
    prefix: str = "10.17605"
    """The prefix of its DOIs; its test server has another."""

    label: ClassVar[str] = "OSF"
    usual_address: ClassVar[str] = "https://api.osf.io"

    @staticmethod
    def header(token: str) -> tuple[str, str]:
        return "Authorization", f"Bearer {token}"

    @staticmethod
    def wants(description: Description) -> str:
        return ""

    def find(self, description: Description) -> Found | None:
        """A project of these data that was made before, by its tag."""
        query = f"filter[tags]={quote(_tag(description), safe='')}"
        answer = self.connection.send(Request(method="GET", address=f"v2/users/me/nodes/?{query}"))
        for one in list_at(answer, "data"):
            if _tag(description) in list_at(one, "attributes", "tags"):
                return self._found(one)
        return None

    def look(self, number: str) -> Found | None:
        answer = self.connection.send(Request(method="GET", address=f"{NODES}{quote(number)}/", may_be_absent=True))
        return None if answer is None else self._found(at(answer, "data"))

    def reserve(self, description: Description) -> Found:
        """A private project. Nobody but the token's account sees it."""
        attributes = {**self._attributes(description), "category": "data", "public": False}
        document = {"data": {"type": "nodes", "attributes": attributes}}
        return self._found(at(self.connection.send(Request(method="POST", address=NODES, document=document)), "data"))

    def publish(self, number: str, description: Description, files: Mapping[str, bytes], tell: Callable[[int], None]) -> Found:
        """The files first, then everybody may see the project, and last it gets its DOI."""
        self._change(number, self._attributes(description))
        upload = text_at(
            self.connection.send(Request(method="GET", address=f"{NODES}{quote(number)}/files/")), "data", 0, "links", "upload"
        )
        there = {text_at(one, "attributes", "name"): one for one in self._files(number)}
        for sent, (name, content) in enumerate(sorted(files.items()), start=1):
            before = there.get(name)
            if before is None:
                self.connection.send(Request(method="PUT", address=f"{upload}?kind=file&name={quote(name)}", file=name), body=content)
            elif text_at(before, "attributes", "extra", "hashes", "sha256") != hashlib.sha256(content).hexdigest():
                self.connection.send(Request(method="PUT", address=text_at(before, "links", "upload"), file=name), body=content)
            tell(sent)
        self._change(number, {"public": True})
        found = Found.checked(self.label, number=number, doi=self._doi(number), is_public=True)
        given = self._registered(number)
        if not given:
            document = {"data": {"type": "identifiers", "attributes": {"category": "doi"}}}
            answer = self.connection.send(Request(method="POST", address=f"{NODES}{quote(number)}/identifiers/", document=document))
            given = text_at(answer, "data", "attributes", "value")
        if given.lower() != found.doi.lower():
            raise DepositError(
                _("Expected the reserved DOI %(reserved)s from OSF, found %(given)s.") % {"reserved": found.doi, "given": given}
            )
        return found

    def give_back(self, number: str) -> None:
        self.connection.send(Request(method="DELETE", address=f"{NODES}{quote(number)}/", may_be_absent=True))

    def withdraw(self, number: str, description: Description, reason: str) -> None:
        """The files are deleted; the project stays, and says why."""
        for one in self._files(number):
            self.connection.send(Request(method="DELETE", address=text_at(one, "links", "delete"), may_be_absent=True))
        self._change(number, {"title": f"Retracted: {description.title}", "description": reason})

    def _change(self, number: str, attributes: Mapping[str, object]) -> None:
        document = {"data": {"type": "nodes", "id": number, "attributes": dict(attributes)}}
        self.connection.send(Request(method="PATCH", address=f"{NODES}{quote(number)}/", document=document))

    def _files(self, number: str) -> list[object]:
        address = f"{NODES}{quote(number)}/files/osfstorage/?page[size]=100"
        return list_at(self.connection.send(Request(method="GET", address=address)), "data")

    def _registered(self, number: str) -> str:
        """The DOI that it has already."""
        answer = self.connection.send(Request(method="GET", address=f"{NODES}{quote(number)}/identifiers/"))
        dois = [one for one in list_at(answer, "data") if text_at(one, "attributes", "category") == "doi"]
        return text_at(dois, 0, "attributes", "value")

    @staticmethod
    def _attributes(description: Description) -> dict[str, object]:
        authors = "; ".join(description.publication.authors)
        about = " ".join([description.about, *description.notes, f"Authors: {authors}.", f"Licence: {description.licence.address}"])
        return {"title": description.title, "description": about, "tags": [_tag(description), *description.keywords]}

    def _found(self, node: object) -> Found:
        """It is public once it has its DOI, too: a worker may die between the two requests that publish it."""
        number = text_at(node, "id")
        found = Found.checked(self.label, number=number, doi=self._doi(number), is_public=False)
        is_public = at(node, "attributes", "public") is True and bool(self._registered(number))
        return replace(found, is_public=is_public)

    def _doi(self, number: str) -> str:
        return f"{self.prefix}/OSF.IO/{number.upper()}"

    @staticmethod
    def rehearsed(request: Request) -> object:
        if request.address.endswith("/files/"):
            return {"data": [{"links": {"upload": "v1/resources/NUMBER/providers/osfstorage/"}}]}
        if request.method == "GET":
            return {"data": []}
        value = "10.17605/OSF.IO/NUMBER"
        return {"data": {"id": "NUMBER", "attributes": {"public": False, "value": value}}}


def _tag(description: Description) -> str:
    """A tag that no other project has."""
    return f"candor:{description.address.removeprefix('https://').removeprefix('http://').rstrip('/')}"
