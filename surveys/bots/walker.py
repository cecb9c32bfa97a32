"""Walking the journey over HTTP, one page after the other, as its forms say."""

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from http import HTTPStatus
from itertools import chain
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import numpy as np
from lxml import html

from surveys.bots.population import Bot, Population

MOST_PAGES = 40
AWAY = (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT)
SHORTEST_WAIT = 0.2
"""In seconds."""
Values = Mapping[str, str | list[str]]
Diary = Callable[[Mapping[str, object]], None]
"""Where bots note what they saw: `{"away": status}` for each request that the server did not take, and once they have finished
`{"code": withdrawal code, "answers": what they had reported}`.
"""
Page = Any  # an lxml.html document; the stubs know no more


class Ending(StrEnum):
    FINISHED = "finished"
    DECLINED = "declined"
    DROPPED_OUT = "dropped out"
    TURNED_AWAY = "turned away"


class UnexpectedPageError(RuntimeError):
    """The server answered with something that no participant should see."""


@dataclass(slots=True, kw_only=True)
class Walker:
    """One bot in one browser. `arm` is the bot's until `arms_of_stimulus` tells it from what the pages show, as
    watching them would.
    """

    client: httpx.Client
    address: str
    bot: Bot
    population: Population
    arm: str
    arms_of_stimulus: Mapping[str, frozenset[str]]
    rng: np.random.Generator
    code: str = ""
    patience_seconds: float = 0.0
    diary: Diary = lambda _event: None
    reported: Values = field(default_factory=dict, init=False)
    possible: frozenset[str] = field(default=frozenset(), init=False)

    def walk(self) -> Ending:
        """From the link to the last page, or as far as this bot goes."""
        page, step = self._ask("GET", self.address), ""
        for _ in range(MOST_PAGES):
            if page.xpath('//*[@id="completion-code"]'):
                self.diary({"code": page.xpath('string(//*[@id="withdrawal-code"])').strip(), "answers": self.reported})
                return Ending.FINISHED
            forms = [form for form in page.forms if form.method == "POST" and "step" in form.fields]
            if not forms:
                return Ending.DECLINED if self.bot.declines and step == "consent" else Ending.TURNED_AWAY
            form = forms[0]
            step = form.fields["step"]
            if step == self.bot.drops_out_at:
                return Ending.DROPPED_OUT
            values: dict[str, str | list[str]] = dict(sent_by(form))
            values |= getattr(self, f"_fill_{step}")(page, form)
            page = self._ask("POST", self.address, data=values)
        raise UnexpectedPageError(f"{self.address}: not at the end after {MOST_PAGES} pages")

    def _fill_welcome(self, page: Page, form: Page) -> Values:
        return {"language": "en"} | ({"code": self.code} if self.code else {})

    def _fill_consent(self, page: Page, form: Page) -> Values:
        return {"choice": "decline" if self.bot.declines else "agree"}

    def _fill_background(self, page: Page, form: Page) -> Values:
        inputs = {name: f"{name}." if f"{name}." in form.fields else name for name in self.bot.answers}
        return {inputs[name]: value for name, value in self.bot.answers.items() if inputs[name] in form.fields}

    def _fill_direct_consent(self, page: Page, form: Page) -> Values:
        return {"choice": "agree" if self.bot.agrees_to_direct else "decline"}

    def _fill_direct_questions(self, page: Page, form: Page) -> Values:
        names = {name: name.removeprefix("answer-") for name in form.fields if name.startswith("answer-")}
        return {name: self.population.sent_directly(self.bot, question=question, arm=self.arm) for name, question in names.items()}

    def _fill_video(self, page: Page, form: Page) -> Values:
        here = self.arms_of_stimulus[stimulus_on(page)]
        self.possible = here & self.possible if self.possible else here
        self.arm = min(self.possible)  # arms that show the same to the end are the same to the bot
        if leaving := page.xpath("//a[@data-leave]/@href"):
            self._come_back_from(leaving[0])
        return {}

    def _come_back_from(self, address: str) -> None:
        """Bots do no task, and ask no other site: they come back as from there."""
        back = next(value for value in chain(*parse_qs(urlsplit(address).query).values()) if "/return/" in value)
        (form,) = [form for form in self._ask("GET", back).forms if form.method == "POST"]
        self._ask("POST", back, data=dict(form.form_values()))

    def _fill_quiz(self, page: Page, form: Page) -> Values:
        names = {name for name in form.fields if name.startswith("quiz-")}
        return {name: str(self.rng.choice(sorted(form.inputs[name].value_options))) for name in sorted(names)}

    def _fill_die(self, page: Page, form: Page) -> Values:
        wrong = self.bot.misunderstands and form.fields["tried"] != "1"
        clicks = {}
        for number in ("1", "2"):
            situation = form.fields[f"situation-{number}"]
            says, truth = situation.split(":" if ":" in situation else "-")
            right = truth if says == "truth" else says
            others = [value for value in form.inputs[f"check-{number}"].value_options if value != right]
            clicks[f"check-{number}"] = others[0] if wrong else right
        return clicks

    def _fill_questions(self, page: Page, form: Page) -> Values:
        answers = {}
        for name in form.fields:
            if name.startswith("answer-"):
                own = page.xpath("//*[@data-question-page][.//input[@name=$name]]//tr[@data-faces]", name=name)
                table = own or page.xpath("//tr[@data-faces]")
                says = {int(face): row.xpath("string(.//@data-says)") for row in table for face in row.get("data-faces").split()}
                rolled = 1 + secrets.randbelow(len(says))
                question = name.removeprefix("answer-")
                answers[name] = self.population.sent(self.bot, question=question, arm=self.arm, instruction=says[rolled], rng=self.rng)
        self.reported = {name.removeprefix("answer-"): said for name, said in answers.items()}
        return answers

    def _ask(self, method: str, address: str, data: Values | None = None) -> Page:
        """The next page, after redirects.

        While the server is away the same bytes are sent again, as participants' browsers send them: every request may be repeated
        harmlessly. The server says how long to wait.
        """
        request = self.client.build_request(method, address, data=data, headers={"Referer": address})
        give_up = time.monotonic() + self.patience_seconds
        while True:
            wait = SHORTEST_WAIT
            try:
                response = self.client.send(request)
                if response.status_code not in AWAY:
                    break
                self.diary({"away": response.status_code})
                request, wait = response.request, _seconds_asked_for(response)  # after a redirect: what it led to
            except httpx.TransportError as error:
                self.diary({"away": "no answer"})
                if time.monotonic() >= give_up:
                    raise
                request = error.request
            if time.monotonic() + wait > give_up:
                raise UnexpectedPageError(f"{method} {address}: the server stayed away")
            time.sleep(wait)
        if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise UnexpectedPageError(f"{method} {address}: status {response.status_code}")
        return html.fromstring(response.text)


def sent_by(form: Page) -> Values:
    """The values of a form as it stands; a name that stands there several times has a list."""
    found: dict[str, list[str]] = {}
    for name, value in form.form_values():
        found.setdefault(name, []).append(value)
    return {name: values if len(values) > 1 else values[0] for name, values in found.items()}


def stimulus_on(page: Page) -> str:
    """The place of a page among those of its arm, the identifiers of what it plays or pictures, and its words."""
    place = (page.xpath('//input[@name="page"]/@value') or ["0"])[0]
    addresses = page.xpath('//video/source/@src | //audio/source/@src | //*[@id="stimulus"]//img/@src')
    files = [str(address).rstrip("/").rsplit("/", 1)[1] for address in addresses]
    return " ".join([place, *files, *" ".join(page.xpath('//*[@id="stimulus"]//text()')).split()])


def _seconds_asked_for(response: httpx.Response) -> float:
    """The `Retry-After` of a server that is away; a little while if it names none."""
    try:
        return max(float(response.headers["Retry-After"]), SHORTEST_WAIT)
    except (KeyError, ValueError):  # a date is nothing that this platform sends
        return SHORTEST_WAIT
