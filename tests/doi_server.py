"""Zenodo, a Dataverse and the OSF on this computer: each checks every request against its documentation, and keeps what it was sent."""

import email
import email.policy
import hashlib
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from jsonschema import Draft202012Validator

from tests import doi_schemas

TOKEN = "the-token-of-the-account"


class RefusedError(Exception):
    """An answer that is not one of success."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status


class DoiServer:
    """`wrong`: requests that the documentation does not know, in words. `away`: every answer is 503.

    `drop`: paths that act, and answer 502. `unheard`: methods and paths that do not act, and answer 404. `drips`: after so many files
    that were sent, everything is answered a letter at a time, without end.
    """

    def __init__(self) -> None:
        self.deposits: dict[str, dict[str, Any]] = {}
        self.requests: list[tuple[str, str, Any]] = []
        self.wrong: list[str] = []
        self.away = False
        self.drop: str = ""
        self.unheard: str = ""
        self.drips: int | None = None
        self.files_sent = 0
        self.address = ""
        self.elsewhere = ""
        """Where files are to be sent, instead of here."""

    def answer(self, method: str, target: str, headers: Any, body: bytes) -> tuple[int, Any]:
        parts = urlsplit(target)
        path, query = unquote(parts.path), {key: values[0] for key, values in parse_qs(parts.query).items()}
        if self.away:
            return 503, {"message": "under maintenance"}
        try:
            self._require_token(path, headers)
            document = self._document(method, path, headers, body)
            self.requests.append((method, path, document))
            if self.unheard and re.fullmatch(self.unheard, f"{method} {path}"):
                raise RefusedError(404, "not found")
            found = self.acted(method, path, query, document, headers, body)
        except RefusedError as refusal:
            return refusal.status, {"message": str(refusal)}
        if self.drop and re.fullmatch(self.drop, path):
            return 502, {"message": "lost"}
        return found

    def acted(self, method: str, path: str, query: dict[str, str], document: Any, headers: Any, body: bytes) -> tuple[int, Any]:
        raise NotImplementedError

    def check(self, document: Any, schema: dict[str, object]) -> None:
        """Refuse and remember a document that does not fit."""
        if found := [f"{error.json_path}: {error.message[:300]}" for error in Draft202012Validator(schema).iter_errors(document)]:
            self.wrong += found
            raise RefusedError(400, found[0])

    def unknown(self, method: str, path: str) -> RefusedError:
        self.wrong.append(f"{method} {path} is not documented")
        return RefusedError(405, "no such request")

    def _require_token(self, path: str, headers: Any) -> None:
        if TOKEN not in (headers.get("Authorization", "").removeprefix("Bearer "), headers.get("X-Dataverse-key", "")):
            raise RefusedError(401, f"the token {headers.get('Authorization')} is not known")

    @staticmethod
    def _document(method: str, path: str, headers: Any, body: bytes) -> Any:
        return json.loads(body) if body and headers.get("Content-Type", "").startswith("application/json") else None


class ZenodoServer(DoiServer):
    def acted(self, method: str, path: str, query: dict[str, str], document: Any, headers: Any, body: bytes) -> tuple[int, Any]:
        start = "/api/deposit/depositions"
        if (method, path) == ("GET", start):
            assert set(query) <= {"q", "status", "sort", "page", "size", "all_versions"}, query
            assert int(query["size"]) <= 100, query
            found = list(self.deposits.values())[::-1]
            first = (int(query["page"]) - 1) * int(query["size"])
            return 200, found[first : first + int(query["size"])]
        if (method, path) == ("POST", start):
            self.check(document, doi_schemas.ZENODO)
            number = 1000 + len(self.deposits)
            doi = {"doi": f"10.5281/zenodo.{number}", "recid": number}
            bucket = f"{self.elsewhere or self.address}/api/files/bucket-{number}"
            self.deposits[str(number)] = {
                "id": number,
                "metadata": {**document["metadata"], "prereserve_doi": doi},
                "files": [],
                "links": {"bucket": bucket},
                "submitted": False,
                "state": "unsubmitted",
            }
            return 201, self.deposits[str(number)]
        if (method, path[:11]) == ("PUT", "/api/files/"):
            bucket, _slash, name = path[11:].partition("/")
            deposit = self._one(bucket.removeprefix("bucket-"))
            if deposit["submitted"]:
                raise RefusedError(403, "published files do not change")
            kept = {"filename": name, "filesize": len(body), "checksum": hashlib.md5(body).hexdigest()}
            deposit["files"] = [one for one in deposit["files"] if one["filename"] != name] + [kept]
            return 201, {"key": name, "checksum": f"md5:{kept['checksum']}"}
        match = re.fullmatch(rf"{start}/(\d+)(?:/actions/(publish|edit|discard))?", path)
        if match is None:
            raise self.unknown(method, path)
        number, action = match.groups()
        deposit = self._one(number)
        if (method, action) == ("POST", "publish"):
            if not deposit["files"]:
                raise RefusedError(400, "Minimum one file must be provided.")
            deposit |= {"submitted": True, "state": "done", "doi": deposit["metadata"]["prereserve_doi"]["doi"]}
            return 202, deposit
        if (method, action) == ("POST", "edit") and deposit["submitted"]:
            if deposit["state"] == "inprogress":
                raise RefusedError(400, "Deposition state does not allow for editing.")
            deposit["state"] = "inprogress"
            return 201, deposit
        if (method, action) == ("PUT", None):
            self.check(document, doi_schemas.ZENODO)
            if deposit["state"] == "done":
                raise RefusedError(403, "ask for edit first")
            deposit["metadata"] = {**document["metadata"], "prereserve_doi": deposit["metadata"]["prereserve_doi"]}
            return 200, deposit
        if (method, action) == ("GET", None):
            return 200, deposit
        if (method, action) == ("DELETE", None) and not deposit["submitted"]:
            del self.deposits[number]
            return 204, None
        raise self.unknown(method, path)

    def _one(self, number: str) -> dict[str, Any]:
        if number not in self.deposits:
            raise RefusedError(404, "PID does not exist.")
        return self.deposits[number]


class DataverseServer(DoiServer):
    def acted(self, method: str, path: str, query: dict[str, str], document: Any, headers: Any, body: bytes) -> tuple[int, Any]:
        number = query.get("persistentId", "")
        if (method, path) == ("GET", "/api/search"):
            assert query["type"] == "dataset", query
            found = [key for key, one in self.deposits.items() if json.dumps(one["metadata"]).find(query["q"].split('"')[1]) >= 0]
            return 200, {"status": "OK", "data": {"total_count": len(found), "items": [{"global_id": key} for key in found]}}
        if (method, path) == ("POST", "/api/dataverses/lab/datasets"):
            self.check(document, doi_schemas.DATAVERSE)
            number = f"doi:10.70122/FK2/{len(self.deposits):06}"
            self.deposits[number] = {"metadata": document["datasetVersion"], "files": {}, "state": "DRAFT"}
            return 201, {"status": "OK", "data": {"id": len(self.deposits), "persistentId": number}}
        if number not in self.deposits:
            raise RefusedError(404, f"Dataset with Persistent ID {number} not found.")
        deposit, here = self.deposits[number], path.removeprefix("/api/datasets/:persistentId/")
        if (method, here) == ("GET", ""):
            blocks = deposit["metadata"]["metadataBlocks"]
            return 200, {"status": "OK", "data": {"latestVersion": {"versionState": deposit["state"], "metadataBlocks": blocks}}}
        if (method, here) == ("GET", "versions/:draft/files"):
            files = [{"label": name, "dataFile": {"md5": md5}} for name, md5 in deposit["files"].items()]
            return 200, {"status": "OK", "data": files}
        if (method, here) == ("PUT", "versions/:draft"):
            self.check(document, doi_schemas.DATAVERSE_VERSION)
            deposit["metadata"] = document
            return 200, {"status": "OK", "data": {}}
        if (method, here) == ("POST", "add"):
            name, content, told = self._form(headers, body)
            self.check(told, doi_schemas.DATAVERSE_FILE)
            deposit["files"][name] = hashlib.md5(content).hexdigest()
            return 200, {"status": "OK", "data": {"files": [{"label": name}]}}
        if (method, here) == ("POST", "actions/:publish"):
            assert query["type"] in ("major", "minor", "updatecurrent"), query
            deposit["state"] = "RELEASED"
            return 200, {"status": "OK", "data": {"id": 1}}
        if (method, here) == ("DELETE", "versions/:draft") and deposit["state"] == "DRAFT":
            del self.deposits[number]
            return 200, {"status": "OK", "data": {"message": "Draft version deleted"}}
        if (method, here) == ("POST", "versions/:latest-published/deaccession"):
            self.check(document, doi_schemas.DEACCESSION)
            if deposit["state"] == "DEACCESSIONED":
                raise RefusedError(404, "There is no published version.")
            deposit |= {"state": "DEACCESSIONED", "reason": document["deaccessionReason"]}
            return 200, {"status": "OK", "data": {"message": "deaccessioned"}}
        raise self.unknown(method, path)

    @staticmethod
    def _form(headers: Any, body: bytes) -> tuple[str, bytes, Any]:
        """The file and the JSON of a form."""
        head = f"Content-Type: {headers['Content-Type']}\r\n\r\n".encode()
        parts = list(email.message_from_bytes(head + body, policy=email.policy.HTTP).iter_parts())
        by_name = {one.get_param("name", header="content-disposition"): one for one in parts}
        file = by_name["file"]
        return str(file.get_filename()), file.get_payload(decode=True), json.loads(by_name["jsonData"].get_payload(decode=True))


class OsfServer(DoiServer):
    def acted(self, method: str, path: str, query: dict[str, str], document: Any, headers: Any, body: bytes) -> tuple[int, Any]:
        if (method, path) == ("GET", "/v2/users/me/nodes/"):
            return 200, {"data": [self._shown(key) for key, one in self.deposits.items() if query["filter[tags]"] in one["tags"]]}
        if (method, path) == ("POST", "/v2/nodes/"):
            self.check(document, doi_schemas.OSF_NEW)
            number = f"ab{len(self.deposits):03}"
            self.deposits[number] = {"public": False, "files": {}, "doi": "", **document["data"]["attributes"]}
            return 201, {"data": self._shown(number)}
        if match := re.fullmatch(r"/v1/resources/(\w+)/providers/osfstorage/([\w.-]*)", path):
            return self._stored(method, *match.groups(), query, body)
        match = re.fullmatch(r"/v2/nodes/(\w+)/(files/|files/osfstorage/|identifiers/|)", path)
        if match is None:
            raise self.unknown(method, path)
        number, rest = match.groups()
        if number not in self.deposits:
            raise RefusedError(404, "Not found.")
        node = self.deposits[number]
        storage = f"{self.elsewhere or self.address}/v1/resources/{number}/providers/osfstorage/"
        if (method, rest) == ("GET", ""):
            return 200, {"data": self._shown(number)}
        if (method, rest) == ("PATCH", ""):
            self.check(document, doi_schemas.OSF_CHANGE)
            node |= document["data"]["attributes"]
            return 200, {"data": self._shown(number)}
        if (method, rest) == ("DELETE", ""):
            del self.deposits[number]
            return 204, None
        if (method, rest) == ("GET", "files/"):
            return 200, {"data": [{"attributes": {"provider": "osfstorage"}, "links": {"upload": storage}}]}
        if (method, rest) == ("GET", "files/osfstorage/"):
            links = {name: {"upload": storage + name, "delete": storage + name} for name in node["files"]}
            hashes = {name: {"hashes": {"sha256": one}} for name, one in node["files"].items()}
            return 200, {"data": [{"attributes": {"name": one, "extra": hashes[one]}, "links": links[one]} for one in node["files"]]}
        if (method, rest) == ("GET", "identifiers/"):
            return 200, {"data": [{"attributes": {"category": "doi", "value": node["doi"]}}] if node["doi"] else []}
        if (method, rest) == ("POST", "identifiers/"):
            self.check(document, doi_schemas.OSF_IDENTIFIER)
            if node["doi"] or not node["public"]:
                raise RefusedError(400, "A DOI is already there, or the project is private.")
            node["doi"] = f"10.17605/OSF.IO/{number.upper()}"
            return 201, {"data": {"type": "identifiers", "attributes": {"category": "doi", "value": node["doi"]}}}
        raise self.unknown(method, path)

    def _stored(self, method: str, number: str, name: str, query: dict[str, str], body: bytes) -> tuple[int, Any]:
        files = self.deposits[number]["files"]
        if method == "DELETE" and name in files:
            del files[name]
            return 204, None
        if method == "PUT":
            if not name and query.get("kind") != "file":
                raise self.unknown(method, "an upload without kind=file")
            if query.get("name") in files:
                raise RefusedError(409, "a file of this name is there")
            files[name or query["name"]] = hashlib.sha256(body).hexdigest()
            return 201, {"data": {}}
        raise self.unknown(method, name)

    def _shown(self, number: str) -> dict[str, Any]:
        node = self.deposits[number]
        return {"id": number, "type": "nodes", "attributes": {"public": node["public"], "tags": node["tags"], "title": node["title"]}}


SERVERS: dict[str, type[DoiServer]] = {"zenodo": ZenodoServer, "dataverse": DataverseServer, "osf": OsfServer}


@contextmanager
def doi_server(kind: str) -> Iterator[DoiServer]:
    """A server of this kind on a free port; every request must have been one that its documentation knows."""
    server = SERVERS[kind]()

    class Handler(BaseHTTPRequestHandler):
        def take(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            server.files_sent += bool(body) and self.headers.get("Content-Type") == "application/octet-stream"
            if server.drips is not None and server.files_sent > server.drips:
                self._drip()
                return
            status, document = server.answer(self.command, self.path, self.headers, body)
            content = b"" if document is None else json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _drip(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            with suppress(OSError):  # the other side has gone
                while server.drips is not None:
                    self.wfile.write(b" ")
                    time.sleep(0.05)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.take)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        server.address = f"http://127.0.0.1:{http.server_address[1]}"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.drips = None
            http.shutdown()
            thread.join()
