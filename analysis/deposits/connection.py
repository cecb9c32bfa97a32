"""Requests to a service, and its answers. The token goes to the service's own addresses alone, and into no error, log or list."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urljoin, urlsplit

from django.utils.translation import gettext as _

from analysis.deposits.errors import DepositError, ServiceAwayError

if TYPE_CHECKING:
    import httpx

    from webhooks.deadlines import Deadline

SECONDS = 60.0
"""The patience for each part of a request and of its answer; a deadline ends all of them together."""
AWAY = (408, 425, 429, 500, 502, 503, 504)
LONGEST_ANSWER = 300
HERE = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, without the token. `file`: the name of a file of the package, whose bytes are the body."""

    method: str
    address: str
    document: object = None
    file: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Beside a file in a form, where the service wants one."""
    may_be_absent: bool = False
    """Whether the service may say that there is no such thing. Everywhere else that is a refusal: what was to be done is not done."""

    @property
    def written(self) -> str:
        """The document as it is sent, for people."""
        return "" if self.document is None else json.dumps(self.document, indent=2, ensure_ascii=False)


class Connection(Protocol):
    """Sends a request of a service and gives the answer; None where something may be absent and is."""

    def send(self, request: Request, *, body: bytes | None = None) -> object: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """The service itself. `hosts` are those to which the token may go."""

    name: str
    address: str
    header: tuple[str, str]
    hosts: tuple[str, ...]
    deadline: "Deadline"

    def send(self, request: Request, *, body: bytes | None = None) -> object:
        """Raises `ServiceAwayError` or `DepositError`, in words that people may read."""
        address = urljoin(f"{self.address}/", request.address)
        self._require_own(address)
        import httpx  # which web processes can do without

        from analysis.deposits.transport import TimedTransport

        headers = dict([self.header])
        try:
            transport = TimedTransport(self.deadline)
            with httpx.Client(timeout=SECONDS, follow_redirects=False, headers=headers, trust_env=False, transport=transport) as client:
                answer = self._answer(client, request, address, body)
        except (httpx.TransportError, httpx.InvalidURL) as error:
            if self.deadline.is_over:
                said = _("%(service)s took too long; the step was broken off. It keeps the files that it has.")
                raise ServiceAwayError(said % {"service": self.name}) from error
            said = _("%(service)s could not be reached: %(why)s.")
            raise ServiceAwayError(said % {"service": self.name, "why": type(error).__name__}) from error
        if answer.status_code in AWAY:
            said = _("%(service)s cannot work now; it answered %(status)d.")
            raise ServiceAwayError(said % {"service": self.name, "status": answer.status_code})
        if request.may_be_absent and answer.status_code in (404, 410):
            return None
        if not answer.is_success:
            told = " ".join(answer.text.replace(self.header[1], "…").replace(self.header[1].removeprefix("Bearer "), "…").split())
            said = _("%(service)s refused %(method)s %(path)s with %(status)d: %(told)s")
            path = urlsplit(address).path
            told = told[:LONGEST_ANSWER]
            raise DepositError(
                said % {"service": self.name, "method": request.method, "path": path, "status": answer.status_code, "told": told}
            )
        try:
            found: object = answer.json() if answer.content else {}
        except (ValueError, RecursionError) as error:
            raise ServiceAwayError(_("%(service)s answered with something that is not JSON.") % {"service": self.name}) from error
        return found

    def _require_own(self, address: str) -> None:
        """An answer may name another address, but never one of somebody else: the token would go there."""
        own = urlsplit(self.address)
        try:
            parts = urlsplit(address)
            is_own = (parts.scheme, parts.port) == (own.scheme, own.port) and parts.hostname in (own.hostname, *self.hosts)
        except ValueError:
            is_own = False
        if not is_own:
            said = _("%(service)s named an address of somebody else, %(address)s. Nothing was sent there.")
            raise DepositError(said % {"service": self.name, "address": address[:80]})

    @staticmethod
    def _answer(client: "httpx.Client", request: Request, address: str, body: bytes | None) -> "httpx.Response":
        if request.fields:
            files = {"file": (request.file, body or b"", "application/octet-stream")}
            return client.request(request.method, address, data=dict(request.fields), files=files)
        if body is not None:
            return client.request(request.method, address, content=body, headers={"Content-Type": "application/octet-stream"})
        return client.request(request.method, address, json=request.document)


@dataclass(slots=True)
class Rehearsed:
    """Sends nothing: it keeps the requests, and answers as the service would."""

    answer: Callable[[Request], object]
    requests: list[Request] = field(default_factory=list)

    def send(self, request: Request, *, body: bytes | None = None) -> object:
        self.requests.append(request)
        return self.answer(request)


def at(document: object, *path: str | int) -> object:
    """The value at this place of an answer; None where there is none."""
    for part in path:
        if isinstance(document, Mapping) and isinstance(part, str):
            document = document.get(part)
        elif isinstance(document, list) and isinstance(part, int) and part < len(document):
            document = document[part]
        else:
            return None
    return document


def text_at(document: object, *path: str | int) -> str:
    found = at(document, *path)
    return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else ""


def list_at(document: object, *path: str | int) -> list[object]:
    found = at(document, *path)
    return found if isinstance(found, list) else []
