"""Bodies that are nested, cut, huge or of the wrong kind, sent to every address of the API that takes one, by each role: never an error of
the server, and never slow. Files from outside on the pages alike.
"""

import hashlib
import io
import json
import os
import resource
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import IO, Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from drf_spectacular.generators import SchemaGenerator
from rest_framework.views import APIView

from accounts.models import Role, User
from analysis.models import DataSet
from config.body_sizes import SMALL
from surveys.models import Comment, StudyStatus
from surveys.reading import apart
from surveys.reading.apart import NotReadError, read_apart
from surveys.reading.readers import STUDY_FILE
from surveys.studies.services import fingerprint
from surveys.study_file import dump
from tests.api_requests import API
from tests.data_sets import TYPED_TABLE, approved, bring, quiz_file
from tests.factories import LECTURES, SAMPLE, address_of, answer, document, draft_study, logged_in, person, recruiting_study, study_in
from tests.prepared_reader import Run, prepared_reader
from webhooks.models import Event
from webhooks.services import add_webhook

pytestmark = pytest.mark.django_db
WRITING = ("post", "put", "patch", "delete")
SAMPLE_BYTES = SAMPLE.read_bytes()
NESTED = json.dumps("x")
for _level in range(40):
    NESTED = f"[{NESTED}]"
BROKEN: dict[str, bytes] = {
    "nothing": b"",
    "null": b"null",
    "a list": b"[1, 2]",
    "a word": b'"word"',
    "opened 90,000 times": b"[" * 90_000,
    "opened and closed 40,000 times": b"[" * 40_000 + b"]" * 40_000,
    "objects without end": b'{"a":' * 20_000,
    "60 deep": b"[" * 60 + b"]" * 60,
    "20,000 digits": b'{"a": ' + b"9" * 20_000 + b"}",
    "20,000 digits after the point": b'{"a": 0.' + b"9" * 20_000 + b"}",
    "an infinite number": b'{"a": 1e999}',
    "no number": b'{"a": NaN}',
    "half a character": b'{"a": "\\ud800", "slug": "\\udfff"}',
    "half a character as a key": b'{"\\ud800": 1}',
    "no text": b"\xff\xfe\x00",
    "cut": b'{"slug": "a", "title',
    "8,000 unknown keys": b"{" + b", ".join(b'"k%d": 1' % number for number in range(8000)) + b"}",
    "too large": b'{"a": "' + b"x" * 5_000_000 + b'"}',
}
# As the value of each member that an operation knows.
VALUES = ["-1", "9223372036854775807", "1e300", "null", '"\\u0000"', "[]", '{"a": {"a": {}}}', NESTED, json.dumps("x" * 70_000),
          '["a", 1, null, {}]', '"2026-02-30"']  # fmt: skip
BROKEN_YAML: dict[str, bytes] = {
    "a tag": b"slug: !!bool x",
    "a date": b"slug: !!timestamp x",
    "a tag of Python": b"slug: !!python/object/apply:os.system ['true']",
    "bytes": b"slug: !!binary =",
    "a set": b"slug: !!set {a, b}",
    "20,000 digits": b"minimum_seconds: " + b"1" * 20_000,
    "hexadecimal": b"minimum_seconds: 0x" + b"f" * 20_000,
    "base 60": b"minimum_seconds: 1" + b":01" * 20_000,
    "opened 90,000 times": b"[" * 90_000,
    "indented": b"\n".join(b" " * depth + b"a:" for depth in range(600)),
    "8,000 unknown keys": SAMPLE_BYTES + b"".join(b"k%04d: %d\n" % (number, number) for number in range(8000)),
    "aliases": b"a: &a [x]\nb: *a\n",
    "other keys": b"1: 2\n",
    "infinite limits": SAMPLE_BYTES.replace(b"maximum: 8", b"maximum: .inf"),
    "no limits": SAMPLE_BYTES.replace(b"maximum: 8", b"maximum: .nan"),
    "a great weight": dump(document(arms=[{**arm, "weight": 10**90} for arm in document()["arms"]])).encode(),
    "a great weight of the die": dump(document(die={**document()["die"], "weights": {"1": 10**90}})).encode(),
    "a great quota": dump(document(arms=[{**arm, "quota": 10**90} for arm in document()["arms"]])).encode(),
    "many languages": dump(document(languages=[f"{a}{b}" for a in "abcdefghij" for b in "klmnopqrst"])).encode(),
    "a face too much": dump(
        document(die={**document()["die"], "subsamples": {"1": {"yes": list(range(9000)), "no": []}, "2": {}}})
    ).encode(),
}


@pytest.fixture(autouse=True)
def without_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(APIView, "throttle_classes", ())


@pytest.fixture(scope="module")
def prepared() -> Iterator[Run]:
    with prepared_reader() as run:
        yield run


@pytest.fixture
def each_content_read_once(monkeypatch: pytest.MonkeyPatch, prepared: Run) -> dict[tuple[str, str], tuple[int | None, bytes]]:
    """A process reads each content once for each reader and its options; the same bytes at the next address get its answer again."""
    run, known = prepared, dict[tuple[str, str], tuple[int | None, bytes]]()

    def run_once(given: int, answer: IO[bytes], order: str, *, seconds: int) -> int | None:
        size = os.fstat(given).st_size
        key = order, hashlib.sha256(os.pread(given, size, 0)).hexdigest()
        if key not in known:
            status = run(given, answer, order, seconds=seconds)
            answer.seek(0)
            known[key] = status, answer.read()
        status, written = known[key]
        answer.seek(0)
        answer.write(written)
        return status

    monkeypatch.setattr(apart, "_run", run_once)
    return known


def operations() -> Iterator[tuple[str, str, list[str], list[str]]]:
    """Method, path, kinds of body and names of the members of every operation that takes a body."""
    schema = SchemaGenerator().get_schema(request=None, public=True)

    def members(node: Mapping[str, Any]) -> list[str]:
        if "$ref" in node:
            return members(schema["components"]["schemas"][node["$ref"].rpartition("/")[2]])
        return list(node.get("properties", {}))

    for path, methods in schema["paths"].items():
        for method in WRITING:
            if method in methods:
                content = methods[method].get("requestBody", {}).get("content", {"application/json": {}})
                names = {name for kind in content.values() for name in members(kind.get("schema", {}))}
                yield method, path, list(content), sorted(names)


def hostile_bodies(kinds: list[str], *, all_of_them: bool) -> Iterator[tuple[str, bytes]]:
    for kind in kinds:
        for body in BROKEN.values() if kind == kinds[0] and all_of_them else list(BROKEN.values())[::3]:
            yield kind, body
    yield "application/x-www-form-urlencoded", b"a=%00&reason=%ff&version=99999999999999999999&valid_until=x" + b"&x=1" * 3000
    yield "application/x-www-form-urlencoded", b"version=" + b"9" * 20_000
    yield "application/x-www-form-urlencoded", b"reason=" + b"x" * 1_100_000
    yield "multipart/form-data; boundary=a", b'--a\r\nContent-Disposition: form-data; name="file"; filename="a.mp4"\r\n\r\nx'
    yield "multipart/form-data", b"--a"
    yield "application/json; charset=utf-7", b"{}"
    yield "application/json; charset=no-such", b"{}"


def hostile_members(kinds: list[str], names: list[str], values: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    for kind in (kind for kind in kinds if kind.endswith("json")):
        for name in names:
            for value in values:
                yield kind, f'{{"{name}": {value}}}'.encode()


@pytest.mark.usefixtures("each_content_read_once")
@pytest.mark.parametrize("role", [None, *Role])
def test_no_body_breaks_the_api(role: Role | None) -> None:
    """The investigator sends each value for each member to a draft, and a part of them to a study that is running: its bodies are read
    alike. Each other role sends another fourth of the values.
    """
    others = VALUES[[None, *Role].index(role) % 4 :: 4]
    owner = person(Role.INVESTIGATOR)
    running, draft = recruiting_study(owner=owner, slug="running"), draft_study(owner=owner, slug="draft")
    marks = approved(owner).data_set
    hook = add_webhook(
        running, address="https://lab.example.org/", events=list(Event.values), site="https://candor.example.org", actor=owner
    )
    user: User | None = owner if role == Role.INVESTIGATOR else person(role) if role else None
    client = logged_in(user) if user else Client()
    client.raise_request_exception = False
    answers, wrong = Counter[int](), []
    every = list(operations())
    assert len(every) >= 20
    for method, path, kinds, names in every:
        for slug in ("draft", "running") if "{slug}" in path and role == Role.INVESTIGATOR else ("draft",):
            version = {"If-Match": f'"{fingerprint({"draft": draft, "running": running}[slug])}"'}
            place = (
                path.replace("{slug}", slug)
                .replace("{data_set}", marks.slug)
                .replace("{webhook_id}", str(hook.pk))
                .replace("{arm}", "slides")
            )
            place = place.replace("{action}", "submit" if slug == "draft" else "pause").replace("{delivery_id}", "1")
            unread, values = set[str](), VALUES if role == Role.INVESTIGATOR and slug == "draft" else others
            for kind, body in chain(hostile_bodies(kinds, all_of_them=slug == "draft"), hostile_members(kinds, names, values)):
                if kind in unread and body != BROKEN["too large"]:
                    continue  # a short one was refused unread: so is this, whatever is in it
                started = time.process_time()
                with transaction.atomic():
                    response = client.generic(method.upper(), place, data=body, content_type=kind, headers=version)
                    transaction.set_rollback(True)
                answers[response.status_code] += 1
                if body and not response.request["wsgi.input"].read_started and len(body) <= SMALL:
                    unread.add(kind)
                if response.status_code >= 500 or time.process_time() - started > 2:
                    wrong.append((method, place, kind, body[:80], response.status_code, time.process_time() - started))
    assert wrong == []
    assert sum(count for status, count in answers.items() if 400 <= status < 500) > 4 * len(every), answers


@pytest.mark.parametrize("body", BROKEN_YAML.values(), ids=BROKEN_YAML)
def test_no_study_file_breaks_the_api_or_the_import_page(body: bytes) -> None:
    client = logged_in(person(Role.INVESTIGATOR))
    answer = client.post(API + "studies/", data=body, content_type="application/yaml")
    assert answer.status_code == 400, answer.content[:500]
    assert len(answer.json()["detail"].splitlines()) <= 101
    assert uploaded(client, "a.yaml", body).status_code == 422


def test_eight_thousand_unknown_keys_cost_seconds_at_most() -> None:
    """71 kB blocked a thread for minutes: each problem was compared with each other. Both processes' time is counted."""
    client = logged_in(person(Role.INVESTIGATOR))
    client.get(reverse("surveys:import_study"))
    before = processor_seconds()
    answer = client.post(API + "studies/", data=BROKEN_YAML["8,000 unknown keys"], content_type="application/yaml")
    assert answer.json()["detail"].endswith("And 7,900 more.")
    assert processor_seconds() - before < 5  # half a second on a quiet machine


def test_the_same_content_is_read_once_and_answered_alike(
    each_content_read_once: dict[tuple[str, str], tuple[int | None, bytes]],
) -> None:
    client = logged_in(person(Role.INVESTIGATOR))
    bodies = [BROKEN_YAML["other keys"], BROKEN_YAML["a tag"], BROKEN_YAML["other keys"]]
    first, other, again = (client.post(API + "studies/", data=body, content_type="application/yaml").json() for body in bodies)
    assert len(each_content_read_once) == 2
    assert first == again != other


def test_a_prepared_reader_answers_as_a_new_process(prepared: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer_of(run: Run, content: bytes, function: str) -> object:
        monkeypatch.setattr(apart, "_run", run)
        try:
            return read_apart(content, reader=replace(STUDY_FILE, function=function), source="a file")
        except NotReadError as error:
            return error.problems

    new = apart._run
    contents = [SAMPLE_BYTES, *BROKEN_YAML.values(), b"x" * 5_000_000, b"\xff"]
    for content, function in [*((one, STUDY_FILE.function) for one in contents), (b"", "no.such:reader")]:
        assert answer_of(prepared, content, function) == answer_of(new, content, function)


def processor_seconds() -> float:
    """The time of this process and of those that it started and that ended."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def uploaded(client: Client, name: str, content: bytes) -> HttpResponse:
    return client.post(reverse("surveys:import_study"), {"file": SimpleUploadedFile(name, content)})


def archive(*entries: tuple[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", kind) as target:
        for name, content in entries:
            target.writestr(name, content)
    return written.getvalue()


WHOLE = archive(("a/study.yaml", SAMPLE_BYTES), ("b/slides-only.mp4", (LECTURES / "slides-only.mp4").read_bytes()[:3000]))
ARCHIVES: dict[str, Callable[[], bytes]] = {
    "no archive": lambda: b"PK\x03\x04 no archive",
    "cut": lambda: WHOLE[:-100],
    "a wrong sum": lambda: WHOLE.replace(SAMPLE_BYTES[:0] + b"PK\x01\x02", b"PK\x01\x03"),
    "a damaged middle": lambda: WHOLE[:200] + b"\xff" * 400 + WHOLE[600:],
    "thousands of files": lambda: archive(("study.yaml", SAMPLE_BYTES), *[(f"{number}.txt", b"") for number in range(3000)]),
    "a bomb": lambda: archive(("study.yaml", b" " * 200_000_000)),
    "a damaged film": lambda: WHOLE,
    "a path": lambda: archive(("../../../../tmp/study.yaml", b"slug: !!bool x")),
}


@pytest.mark.parametrize("content", ARCHIVES.values(), ids=ARCHIVES)
def test_no_archive_breaks_the_import_page(content: Callable[[], bytes]) -> None:
    hostile = content()
    started = sum(os.times()[:4])  # processor time, also of the process that reads the file
    assert uploaded(logged_in(person(Role.INVESTIGATOR)), "a.zip", hostile).status_code == 422
    assert sum(os.times()[:4]) - started < 10


def test_a_file_of_a_name_that_another_folder_has_too_is_told() -> None:
    texts = (b"WEBVTT\n\n00:01.000 --> 00:02.000\nA\n", b"WEBVTT\n\n00:01.000 --> 00:02.000\nB\n")
    content = archive(("study.yaml", dump(document()).encode()), ("a/captions-en.vtt", texts[0]), ("b/captions-en.vtt", texts[1]))
    client = logged_in(person(Role.INVESTIGATOR))
    page = client.get(uploaded(client, "a.zip", content)["Location"]).content.decode()
    assert "b/captions-en.vtt" in page


ZERO = "a\0b"
"""No column of PostgreSQL takes a zero byte, and no browser's form sends one."""


def test_a_zero_byte_from_a_stranger_is_no_error_of_the_server(postgresql: None) -> None:
    study = recruiting_study(entry={"ways": [{"name": "poster"}, {"name": "lecture", "kind": "class"}]})
    for address, sent in (
        (address_of(study), {"join": ZERO}),
        (reverse("surveys:join"), {"code": ZERO}),
        (reverse("surveys:in_class"), {"code": ZERO}),
        (reverse("lti:login"), {"iss": ZERO, "login_hint": "1"}),
    ):
        assert 400 <= Client().get(address, sent).status_code < 500, address
    assert 400 <= answer(Client(), study, "welcome", join=ZERO).status_code < 500


def test_a_zero_byte_on_a_page_of_staff_is_no_error_of_the_server(postgresql: None) -> None:
    study, officer = study_in(StudyStatus.IN_REVIEW), logged_in(person(Role.IRB_OFFICER))
    owner, here = logged_in(study.owner), [study.slug]
    remark = officer.post(reverse("surveys:comment", args=here), {"section": "consent", "text": ZERO})
    invited = owner.post(reverse("surveys:people", args=here), {"action": "invite", "role": "viewer", "addressee": ZERO})
    brought = bring(owner, {**TYPED_TABLE, "title": ZERO}, quiz_file())
    assert all(400 <= answered.status_code < 500 for answered in (remark, invited, brought))
    assert not Comment.objects.exists()
    assert not DataSet.objects.exists()
