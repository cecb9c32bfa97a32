"""A Dataverse repository, by its native API: https://guides.dataverse.org/en/latest/api/native-api.html."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import quote

from django.utils.translation import gettext as _

from analysis.deposits.connection import Connection, Request, list_at, text_at
from analysis.deposits.description import Description
from analysis.deposits.errors import DepositError
from analysis.deposits.found import Found

DATASETS = "api/datasets/:persistentId"
LICENCES = {
    "CC0-1.0": {"name": "CC0 1.0", "uri": "http://creativecommons.org/publicdomain/zero/1.0"},
    "CC-BY-4.0": {"name": "CC BY 4.0", "uri": "http://creativecommons.org/licenses/by/4.0"},
}
"""Those that every installation has; others are terms of use."""
WITHDRAWN = "DEACCESSIONED"
PUBLIC = ("RELEASED", WITHDRAWN)


@dataclass(frozen=True, slots=True)
class Dataverse:
    connection: Connection
    collection: str = "root"
    """The alias of the collection in which datasets are made."""
    subject: str = "Social Sciences"

    label: ClassVar[str] = "Dataverse"
    usual_address: ClassVar[str] = ""

    @staticmethod
    def header(token: str) -> tuple[str, str]:
        return "X-Dataverse-key", token

    @staticmethod
    def wants(description: Description) -> str:
        contact = description.publication.contact
        if contact is None or not contact.email:
            return _("Dataverse wants an e-mail address of a contact. Write it under Authors and funding, before the study is launched.")
        return ""

    def find(self, description: Description) -> Found | None:
        """A dataset of these data that was made before. The search looks into drafts of the token's account, too."""
        wanted = quote(f'otherIdValue:"{description.address}"', safe="")
        answer = self.connection.send(Request(method="GET", address=f"api/search?q={wanted}&type=dataset&per_page=10"))
        for one in list_at(answer, "data", "items"):
            found, document = self._looked(text_at(one, "global_id"))
            fields = list_at(document, "data", "latestVersion", "metadataBlocks", "citation", "fields")
            others = [other for field in fields if text_at(field, "typeName") == "otherId" for other in list_at(field, "value")]
            if found and any(text_at(other, "otherIdValue", "value") == description.address for other in others):
                return found
        return None

    def look(self, number: str) -> Found | None:
        return self._looked(number)[0]

    def reserve(self, description: Description) -> Found:
        address = f"api/dataverses/{quote(self.collection)}/datasets"
        version = {"metadataBlocks": self._blocks(description), **_terms(description)}
        answer = self.connection.send(Request(method="POST", address=address, document={"datasetVersion": version}))
        number = text_at(answer, "data", "persistentId")
        return Found.checked(self.label, number=number, doi=number.removeprefix("doi:"), is_public=False)

    def publish(self, number: str, description: Description, files: Mapping[str, bytes], tell: Callable[[int], None]) -> Found:
        query = f"persistentId={quote(number, safe='')}"
        version = {"metadataBlocks": self._blocks(description), **_terms(description)}
        self.connection.send(Request(method="PUT", address=f"{DATASETS}/versions/:draft?{query}", document=version))
        there = self._files(number)
        for sent, (name, content) in enumerate(sorted(files.items()), start=1):
            if there.get(name) != hashlib.md5(content, usedforsecurity=False).hexdigest():
                told = {"jsonData": json.dumps({"description": "", "restrict": "false", "tabIngest": "false"})}
                self.connection.send(Request(method="POST", address=f"{DATASETS}/add?{query}", file=name, fields=told), body=content)
            tell(sent)
        self.connection.send(Request(method="POST", address=f"{DATASETS}/actions/:publish?{query}&type=major"))
        return Found.checked(self.label, number=number, doi=number.removeprefix("doi:"), is_public=True)

    def give_back(self, number: str) -> None:
        query = f"persistentId={quote(number, safe='')}"
        self.connection.send(Request(method="DELETE", address=f"{DATASETS}/versions/:draft?{query}", may_be_absent=True))

    def withdraw(self, number: str, description: Description, reason: str) -> None:
        """Deaccession: the page of the DOI stays, says why, and gives no files any more."""
        if _state(self._looked(number)[1]) == WITHDRAWN:  # the answer to an earlier try was lost
            return
        query = f"persistentId={quote(number, safe='')}"
        document = {"deaccessionReason": reason, "deaccessionForwardURL": description.address}
        address = f"{DATASETS}/versions/:latest-published/deaccession?{query}"
        self.connection.send(Request(method="POST", address=address, document=document))

    def _looked(self, number: str) -> tuple[Found | None, object]:
        address = f"{DATASETS}/?persistentId={quote(number, safe='')}"
        answer = self.connection.send(Request(method="GET", address=address, may_be_absent=True))
        if answer is None:
            return None, None
        is_public = _state(answer) in PUBLIC
        return Found.checked(self.label, number=number, doi=number.removeprefix("doi:"), is_public=is_public), answer

    def _files(self, number: str) -> dict[str, str]:
        """The files that an earlier try sent, with their MD5."""
        query = f"persistentId={quote(number, safe='')}"
        answer = self.connection.send(Request(method="GET", address=f"{DATASETS}/versions/:draft/files?{query}"))
        return {text_at(one, "label"): text_at(one, "dataFile", "md5") for one in list_at(answer, "data")}

    def _blocks(self, description: Description) -> dict[str, object]:
        known = description.publication
        contact = known.contact
        if contact is None or not contact.email:
            raise DepositError(self.wants(description))
        fields = [
            _simple("title", description.title),
            _compound(
                "author",
                [
                    {
                        "authorName": one.name,
                        **({"authorAffiliation": one.institution} if one.institution else {}),
                        **({"authorIdentifierScheme": "ORCID", "authorIdentifier": one.orcid} if one.orcid else {}),
                    }
                    for one in known.creators
                ],
            ),
            _compound("datasetContact", [{"datasetContactName": contact.name, "datasetContactEmail": contact.email}]),
            _compound("dsDescription", [{"dsDescriptionValue": description.html}]),
            {"typeName": "subject", "multiple": True, "typeClass": "controlledVocabulary", "value": [self.subject]},
            _compound("keyword", [{"keywordValue": word} for word in description.keywords]),
            _compound("otherId", [{"otherIdAgency": "Candor", "otherIdValue": description.address}]),
        ]
        if known.funding:
            grants = [{"grantNumberAgency": one.funder} | ({"grantNumberValue": one.award} if one.award else {}) for one in known.funding]
            fields.append(_compound("grantNumber", grants))
        if known.collected:
            dates = {"dateOfCollectionStart": known.collected.first, "dateOfCollectionEnd": known.collected.last}
            fields.append(_compound("dateOfCollection", [dates]))
        return {"citation": {"displayName": "Citation Metadata", "fields": fields}}

    @staticmethod
    def rehearsed(request: Request) -> object:
        return {"status": "OK", "data": [] if request.method == "GET" else {"id": 0, "persistentId": "doi:10.70122/NUMBER"}}


def _state(dataset: object) -> str:
    return text_at(dataset, "data", "latestVersion", "versionState")


def _terms(description: Description) -> dict[str, object]:
    if description.licence.name in LICENCES:
        return {"license": LICENCES[description.licence.name]}
    return {"termsOfUse": f"{description.licence.title}: {description.licence.address}"}


def _simple(name: str, value: str) -> dict[str, object]:
    kind = "controlledVocabulary" if name == "authorIdentifierScheme" else "primitive"
    return {"typeName": name, "multiple": False, "typeClass": kind, "value": value}


def _compound(name: str, values: list[dict[str, str]]) -> dict[str, object]:
    parts = [{inner: _simple(inner, text) for inner, text in one.items()} for one in values]
    return {"typeName": name, "multiple": True, "typeClass": "compound", "value": parts}
