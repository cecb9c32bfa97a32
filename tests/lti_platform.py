"""A course platform, by an implementation of LTI 1.3 that is not ours (lti1p3platform): launches, access tokens, line items, scores."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat, load_pem_private_key
from lti1p3platform.ltiplatform import LTI1P3PlatformConfAbstract
from lti1p3platform.message_launch import LTIAdvantageMessageLaunchAbstract
from lti1p3platform.registration import Registration

from lti.models import Platform
from surveys.credit.blind_signatures import new_key

LEARNER = "http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"
INSTRUCTOR = "http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"
TOOL = "http://testserver"


class Configuration(LTI1P3PlatformConfAbstract):
    def init_platform_config(self, **kwargs: Any) -> None:
        self._registration = kwargs["registration"]

    def get_registration_by_params(self, **kwargs: Any) -> Registration:
        assert self._registration is not None
        return self._registration


class Message(LTIAdvantageMessageLaunchAbstract):
    """One launch: what the platform posts to the tool."""

    def __init__(self, question: dict[str, str], configuration: Configuration) -> None:
        super().__init__(None, configuration)
        self.question = question

    def get_preflight_response(self) -> dict[str, Any]:
        return self.question

    def render_launch_form(self, launch_data: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return launch_data


class ReadOnce(Registration):
    """Reads its private key once. The library reads it twice for each message, and each time its primes are tested anew."""

    key: Any

    def get_kid(self) -> str | None:
        return self._kid

    def set_platform_private_key(self, platform_private_key: str) -> Registration:
        super().set_platform_private_key(platform_private_key)
        self.key, self._kid = _read(platform_private_key)
        return self

    def platform_encode_and_sign(self, payload: dict[str, Any], expiration: int | None = None) -> str:
        return self.encode_and_sign(payload, self.key, {"kid": self._kid}, expiration=expiration)


@cache
def _read(private_key: str) -> tuple[Any, str | None]:
    """A key and its name; tests that follow each other may have the same one."""
    return load_pem_private_key(private_key.encode(), None), Registration().set_platform_private_key(private_key).get_kid()


class CoursePlatform:
    """A running platform. `log` is all that it ever learns: launches and scores, in order."""

    def __init__(self, address: str, *, tool_keys: dict[str, Any]) -> None:
        self.address, self.log, self.line_items = address, list[dict[str, Any]](), dict[str, dict[str, Any]]()
        self.is_away, self.deleted = False, set[str]()
        key = new_key()
        private = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()
        public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
        registration = ReadOnce().set_iss(address).set_client_id("candor").set_deployment_id("1")
        registration.set_launch_url(f"{TOOL}/lti/launch/").set_deeplink_launch_url(f"{TOOL}/lti/choose/")
        registration.set_platform_private_key(private).set_platform_public_key(public).set_tool_key_set(tool_keys)
        self.configuration = Configuration(registration=registration)

    def registered(self) -> Platform:
        return Platform.objects.create(
            name="Moodle",
            issuer=self.address,
            client_id="candor",
            deployment_id="1",
            login_address=f"{self.address}/auth",
            token_address=f"{self.address}/token",
            keys_address=f"{self.address}/keys",
        )

    def answer(
        self, question_address: str, *, sub: str, study: str = "", role: str = LEARNER, course: str = "course-1", **changes: Any
    ) -> dict[str, str]:
        """The form that the browser posts to the tool after this question: the student's name and e-mail address come along."""
        question = dict(parse_qsl(urlsplit(question_address).query))
        message = Message(question, self.configuration)
        message.set_user_data(sub, [role], full_name=f"Name of {sub}", email_address=f"{sub}@example.org")
        message.set_launch_context_claim(course, context_title="Course")
        message.set_resource_link_claim(f"{course}-activity", title="Study")
        message.set_custom_parameters_claim({"study": study})
        if changes.pop("chooses", False):
            message.set_dl(f"{self.address}/chosen", accept_types={"ltiResourceLink"}, extra_data={"data": "kept"})
        elif changes.pop("grades", True):
            item = None if changes.pop("without_line_item", False) else f"{self.address}/items/{course}?type_id=1"
            message.set_ags(f"{self.address}/items?course={course}", item)
        message.set_extra_claims(changes.pop("claims", {}))
        message.set_id_token_expiration(changes.pop("seconds", 300))
        self.log.append({"launch": sub, "number": len(self.log)})
        launched = message.lti_launch()
        return {"id_token": launched["id_token"], "state": launched["state"]}

    def scores(self) -> list[str]:
        return [entry["score"]["userId"] for entry in self.log if "score" in entry]

    # Requests of the tool.

    def get(self, path: str, query: dict[str, list[str]]) -> Any:
        if path == "/keys":
            return self.configuration.get_jwks()
        assert path == "/items", path
        filters = {"resource_link_id": "resourceLinkId", "resource_id": "resourceId"}
        [(asked, values)] = [(filters[name], values) for name, values in query.items() if name in filters]
        return [item for item in self.line_items.values() if item.get(asked) in values]

    def post(self, path: str, body: bytes, *, kind: str, token: str) -> Any:
        if path == "/token":
            return self.configuration.get_access_token(dict(parse_qsl(body.decode())))
        assert self.configuration.validate_token(token)
        content = json.loads(body)
        if path == "/items":
            assert kind == "application/vnd.ims.lis.v2.lineitem+json"
            item = content | {"id": f"{self.address}/items/made-{len(self.line_items)}"}
            self.line_items[item["id"]] = item
            return item
        if path in self.deleted:
            raise LookupError(path)
        assert path.startswith("/items/"), path
        assert path.endswith("/scores"), path
        assert kind == "application/vnd.ims.lis.v1.score+json"
        self.log.append({"score": content, "item": path, "number": len(self.log)})
        return None


@contextmanager
def course_platform(tool_keys: dict[str, Any]) -> Iterator[CoursePlatform]:
    """A platform on this computer."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            self._respond(lambda: platform.get(parts.path, parse_qs(parts.query)))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            self._respond(lambda: platform.post(urlsplit(self.path).path, body, kind=self.headers["Content-Type"], token=token))

        def _respond(self, act: Any) -> None:
            status, content = 200, None
            try:
                content = act()
            except LookupError as error:
                status, content = 404, {"error": repr(error)}
            except Exception as error:  # a platform answers whatever comes
                status, content = 400, {"error": repr(error)}
            if platform.is_away:
                status = 503
            answer = b"" if content is None else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        platform = CoursePlatform(f"http://127.0.0.1:{server.server_port}", tool_keys=tool_keys)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield platform
        finally:
            server.shutdown()
            thread.join()
