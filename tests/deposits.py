"""A service that gives DOIs, in memory: for tests of what a release does with one. Requests are tested in `tests/doi_server.py`."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import ClassVar

import pytest
from django.test import override_settings

from analysis.deposits import depositing
from analysis.deposits.description import Description
from analysis.deposits.errors import ServiceAwayError
from analysis.deposits.found import Found

SETTINGS = {"DOI_SERVICE": "zenodo", "DOI_ADDRESS": "http://127.0.0.1:9", "DOI_TOKEN": "the-token-of-the-account"}


@dataclass
class Shelf:
    """Its deposits by address, with the files that it was sent; `is_away` answers nothing, `loses` answers nothing after it has acted."""

    deposits: dict[str, Found] = field(default_factory=dict)
    files: dict[str, Mapping[str, bytes]] = field(default_factory=dict)
    descriptions: list[Description] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    made: int = 0
    is_away: bool = False
    loses: bool = False

    label: ClassVar[str] = "Zenodo"

    @staticmethod
    def wants(description: Description) -> str:
        return ""

    def find(self, description: Description) -> Found | None:
        self._be_there()
        return self.deposits.get(description.address)

    def look(self, number: str) -> Found | None:
        self._be_there()
        return next((one for one in self.deposits.values() if one.number == number), None)

    def reserve(self, description: Description) -> Found:
        self._be_there()
        self.made += 1
        self.descriptions.append(description)
        found = Found.checked("Zenodo", number=str(self.made), doi=f"10.5281/zenodo.{self.made}", is_public=False)
        self.deposits[description.address] = found
        return self._answered(found)

    def publish(self, number: str, description: Description, files: Mapping[str, bytes], tell: Callable[[int], None]) -> Found:
        self._be_there()
        self.descriptions.append(description)
        self.files[number] = dict(files)
        tell(len(files))
        found = replace(self.deposits[description.address], is_public=True)
        self.deposits[description.address] = found
        return self._answered(found)

    def give_back(self, number: str) -> None:
        self._be_there()
        self.deposits = {address: one for address, one in self.deposits.items() if one.number != number}

    def withdraw(self, number: str, description: Description, reason: str) -> None:
        self._be_there()
        self.descriptions.append(description)
        self.reasons.append(reason)

    def _be_there(self) -> None:
        if self.is_away:
            raise ServiceAwayError("Zenodo could not be reached: ConnectError.")

    def _answered(self, found: Found) -> Found:
        if self.loses:
            raise ServiceAwayError("Zenodo could not be reached: ReadTimeout.")
        return found


@contextmanager
def shelf_in_use(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    """This service is the one of the settings, and workers speak to it."""
    shelf = Shelf()
    monkeypatch.setattr(depositing, "service_of", lambda offered, *, seconds: shelf)
    with override_settings(**SETTINGS):
        yield shelf
