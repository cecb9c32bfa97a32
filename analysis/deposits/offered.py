"""The services that give DOIs behind one interface, and the one that this installation uses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from analysis.deposits.connection import HERE, Connection, Rehearsed, Request, Web
from analysis.deposits.dataverse import Dataverse
from analysis.deposits.description import Description
from analysis.deposits.found import Found
from analysis.deposits.osf import Osf
from analysis.deposits.zenodo import Zenodo
from candor.errors import what_came


class DoiService(Protocol):
    """Each step may be repeated: it finds what an earlier try left behind. All raise `DepositError` or `ServiceAwayError`."""

    label: ClassVar[str]

    @staticmethod
    def wants(description: Description) -> str:
        """The fact that is missing before anything can be sent, in a sentence; empty if nothing is."""

    def find(self, description: Description) -> Found | None:
        """A deposit of these data that was made before, even if its answer was lost."""

    def look(self, number: str) -> Found | None:
        """The deposit as it is now; None if there is none."""

    def reserve(self, description: Description) -> Found:
        """Make a deposit that nobody sees, with a DOI that is not registered yet."""

    def publish(self, number: str, description: Description, files: Mapping[str, bytes], tell: Callable[[int], None]) -> Found:
        """Send the files, and make everything public for good. `tell` hears how many files are there."""

    def give_back(self, number: str) -> None:
        """Delete a deposit that is not public, and its DOI with it."""

    def withdraw(self, number: str, description: Description, reason: str) -> None:
        """Say at the DOI that the data were retracted, and give no files any more, as far as the service can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A service of this installation."""

    name: str
    label: str
    address: str


NAMES: dict[str, type[Zenodo] | type[Dataverse] | type[Osf]] = {"zenodo": Zenodo, "dataverse": Dataverse, "osf": Osf}


def configured() -> Offered | None:
    """The service in the settings; None without one. Raises ImproperlyConfigured where they cannot be right."""
    name = settings.DOI_SERVICE
    if not name:
        return None
    if name not in NAMES:
        raise ImproperlyConfigured(f"DOI_SERVICE: expected one of {', '.join(NAMES)}, found {what_came(name)}.")
    address = (settings.DOI_ADDRESS or NAMES[name].usual_address).rstrip("/")
    parts = urlsplit(address)
    if parts.scheme != "https" and parts.hostname not in HERE:
        raise ImproperlyConfigured(f"DOI_ADDRESS: expected an address that begins with https://, found {what_came(address)}.")
    if not settings.DOI_TOKEN:
        raise ImproperlyConfigured("DOI_TOKEN: expected the token of the account at the service, found none.")
    return Offered(name=name, label=NAMES[name].label, address=address)


def service_of(offered: Offered, *, seconds: float) -> DoiService:
    """The service, ready to be asked for so many seconds from now on. Its token is read here, and stands nowhere else."""
    from webhooks.deadlines import Deadline  # which web processes can do without

    kind, host = NAMES[offered.name], urlsplit(offered.address).hostname or ""
    hosts = (f"files.{host.removeprefix('api.')}",) if kind is Osf else ()
    web = Web(name=kind.label, address=offered.address, header=kind.header(settings.DOI_TOKEN), hosts=hosts, deadline=Deadline(seconds))
    return _with(offered.name, web)


def planned(name: str, description: Description, files: Mapping[str, bytes]) -> Sequence[tuple[str, Sequence[Request]]]:
    """The requests of both steps as they would be sent. Nothing is."""
    answer = NAMES[name].rehearsed
    reserving, publishing = Rehearsed(answer), Rehearsed(answer)
    service = _with(name, reserving)
    service.find(description)
    number = service.reserve(description).number
    _with(name, publishing).publish(number, description, files, lambda sent: None)
    return [("reserve", reserving.requests), ("publish", publishing.requests)]


def _with(name: str, connection: Connection) -> DoiService:
    if name == "dataverse":
        return Dataverse(connection, settings.DOI_COLLECTION or "root", settings.DOI_SUBJECT)
    if name == "osf":
        return Osf(connection, settings.DOI_PREFIX)
    return Zenodo(connection, settings.DOI_COLLECTION)
