"""One browser, several people, many open tabs: whatever is sent in whatever order, a form counts for its owner alone, once, and every page
has a way on.
"""

import random
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urljoin

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory

from surveys.counts import exact_counts
from surveys.journey.visitors import COOKIE, visit_of
from surveys.models import AllocationSlot, Participant, Study
from surveys.tokens import hash_of_token, mark_of, withdrawal_code
from tests.factories import ANSWERS, address_of, page_of, recruiting_study

pytestmark = pytest.mark.django_db
SONA: list[dict[str, str]] = [{"survey_code": "17"}, {"survey_code": "18"}]
ENTRIES: list[tuple[dict[str, Any], list[dict[str, str]]]] = [
    ({"kind": "open"}, [{}]),
    ({"kind": "sona", "completion_url": "https://example.org/done?survey_code={identifier}"}, SONA),
    ({"ways": [{"name": "poster"}, {"name": "sona", "kind": "sona"}]}, [{}, {"way": "poster"}, *SONA]),
]
CLICKS = 90


@dataclass(frozen=True, kw_only=True)
class Form:
    """A form that stands open in some tab."""

    address: str
    fields: dict[str, list[str]]

    @property
    def step(self) -> str:
        return self.fields.get("step", [""])[0]


@dataclass(kw_only=True)
class Browser:
    study: Study
    chance: random.Random
    client: Client = field(default_factory=lambda: Client(enforce_csrf_checks=True, headers={"origin": "http://testserver"}))
    forms: list[Form] = field(default_factory=list)
    exits: list[Form] = field(default_factory=list)
    """The buttons at the foot of pages, which take data out."""
    people: set[str] = field(default_factory=set)

    def open(self, address: str, query: dict[str, str] | None = None) -> None:
        whole = f"{address}?{urlencode(query)}" if query else address
        self.read(self.client.get(whole), whole)

    def read(self, response: HttpResponse, address: str) -> None:
        """Follow the response of this address to its page, whose forms stay open."""
        while response.status_code in (302, 303):
            address = response["Location"]
            response = self.client.get(address)
        assert response.status_code < 500, response.content
        page = page_of(response)
        assert page.xpath("//main//a[@href] | //main//form") or "You can close this page." in page.text_content(), (
            response.status_code,
            page.xpath("string(//h1)"),
        )
        self.people |= {self.token()} - {""}
        for kept, place in ((self.forms, "main"), (self.exits, "footer")):
            for form in page.xpath(f"//{place}//form[@method='post']"):
                fields: dict[str, list[str]] = {}
                for one in form.xpath(".//input[@type='hidden']"):
                    fields.setdefault(one.get("name"), []).append(one.get("value") or "")
                kept.append(Form(address=urljoin(address, form.get("action") or ""), fields=fields))

    def token(self) -> str:
        """The token that the browser holds, also before consent."""
        kept = self.client.cookies[COOKIE].value if COOKIE in self.client.cookies else ""
        visit = visit_of(RequestFactory(headers={"cookie": f"{COOKIE}={kept}"}).get("/"), self.study)
        return visit.token if visit else "" if ":" in kept else kept

    def send(self, form: Form) -> None:
        """Send it filled in; whatever changes is its owner's."""
        typed = {**ANSWERS.get(form.step, {}), **({"choice": "decline"} if self.chance.random() < 0.1 else {}), "undone": "1"}
        typed = {name: value for name, value in typed.items() if name not in form.fields and name != "survey_code"}
        before = rows()
        response = self.client.post(form.address, {**form.fields, **typed})
        changed = {key for key, _row in before ^ rows()}
        if form.step in ANSWERS and form.step != "welcome":
            (owner,) = (token for token in self.people if [mark_of(token)] == form.fields["whose"])
            assert changed <= {hash_of_token(owner)}, (form, response.status_code)
        elif "whose" in form.fields and b'name="code"' in response.content:
            shown = page_of(response).xpath("string(//input[@name='code']/@value)")
            assert shown in ("", *(withdrawal_code(token) for token in self.people if [mark_of(token)] == form.fields["whose"]))
        self.read(response, form.address)


def rows() -> set[tuple[str, tuple[object, ...]]]:
    """Everything that steps write of each person, by the hash of their token."""
    found = Participant.objects.prefetch_related("responses", "direct_answers")
    told = ("step", "page", "background", "quiz", "agrees_to_direct", "arm")
    return {
        (one.token_hash, (*(repr(getattr(one, name)) for name in told), len(one.responses.all()), len(one.direct_answers.all())))
        for one in found
    }


@pytest.mark.parametrize("seed", range(9))
def test_a_form_counts_for_its_owner_alone(seed: int) -> None:
    chance = random.Random(seed)
    entry, links = ENTRIES[seed % 3]
    study = recruiting_study(entry=entry, direct_group={"share": 0.5, "consent": "May we?"})
    AllocationSlot.objects.filter(study=study).update(subsample=chance.choice(["direct", "1"]))
    browser = Browser(study=study, chance=chance)
    for _ in range(CLICKS):
        match chance.choices(
            ["link", "any tab", "last page", "somebody else", "personal link", "withdraw", "no cookie"], [2, 7, 16, 3, 2, 1, 0.3]
        )[0]:
            case "any tab" if browser.forms:
                browser.send(chance.choice(browser.forms))
            case "last page" if browser.forms:
                browser.send(browser.forms[-1])
            case "somebody else":
                browser.open(f"{address_of(study)}somebody-else/", chance.choice(links))
            case "personal link" if browser.people:
                browser.open(f"{address_of(study)}resume/{chance.choice(sorted(browser.people))}/")
            case "withdraw" if browser.exits:
                browser.send(chance.choice(browser.exits))
            case "no cookie":
                browser.client.cookies.pop(chance.choice([COOKIE, "csrftoken"]), None)
            case _:
                browser.open(address_of(study), chance.choice(links))
    asked = Participant.objects.exclude(subsample="direct", agrees_to_direct=False)
    assert exact_counts(study).finished == asked.filter(step="finished").count()
    assert browser.people, "nobody came, so nothing was tried"
