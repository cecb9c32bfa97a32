"""Staff's pages speak to people: no names of files and methods, no values of the program, one form of dates."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import Role, User
from analysis.live.notes import plain_note, plain_reason
from candor.errors import TooFewResponsesError
from candor.estimators import contrasts, direct_comparison, effects
from surveys.models import Study
from surveys.recruitment.services import add_entry_codes
from tests.audits.test_permissions import own_routes
from tests.audits.who_may_enter import ARGUMENTS, EVERYWHERE, RECRUITING
from tests.factories import document, draft_study, logged_in, page_of, person, recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people, compute

pytestmark = pytest.mark.django_db

ARMS = [{**arm, "name": name} for arm, name in zip(document()["arms"], ("old_lecture", "new_lecture"), strict=True)]
MACHINE_LANGUAGE = {
    "a name with underscores": re.compile(r"\b[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b"),
    "a zero with a minus": re.compile(r"(?<![\w.])[-−]0(?:\.0+)?(?![\d.])"),
    "one of many": re.compile(
        r"(?<![\d.,])1 (?:degrees|people|persons|answers|codes|entries|questions|arms|lines|studies|files|days|bots|tries|parts)\b"
    ),
    "quotes of the program": re.compile(r"(?<![\w’])'[^'\s][^']{0,60}'(?!\w)"),
    "a value of the program": re.compile(r"\bNone\b(?! yet)|\b(?:True|False|nan|inf)\b|<[A-Za-z]+ object|\{\}|\[\]"),
    "a date as files write it": re.compile(r"\b20\d\d-\d\d-\d\d\b|\b\d{1,2}/\d{1,2}/20\d\d\b"),
    "a lone placeholder": re.compile(r"%\(\w+\)[sd]|\{\{|\}\}"),
}
# Places in which the page quotes what a program or a file needs word for word.
VERBATIM = ("code", "pre", "textarea", "script", "style", "time")
# Pages that explain files and formulas, in their words; and forms that another application draws.
ABOUT_FILES = {"analysis:methods_page", "schema", "surveys:build_file"}


def words_of(response: HttpResponse) -> str:
    """The words of the page, of its fields and of its pictures."""
    page = page_of(response)
    for element in list(page.iter(*VERBATIM)):
        element.drop_tree()
    for element in page.xpath('//*[contains(concat(" ", @class, " "), " link-box ") or contains(@class, "slip-address")]'):
        element.drop_tree()
    # The full entry of the log has the names and values that its hash is made of.
    for element in page.xpath('//*[@class="log-entry"]//details'):
        element.drop_tree()
    texts = page.xpath("//main//text()") + page.xpath("//main//@aria-label") + page.xpath("//main//@alt") + page.xpath("//main//*/@title")
    words = "\n".join(" ".join(text.split()) for text in texts if text.strip())
    words = words.replace("{completion_code}", "…")  # people type it into an address
    for name in User.objects.values_list("username", flat=True):  # people chose them
        words = words.replace(name, "somebody")
    return words


def machine_language(words: str) -> Iterator[str]:
    for name, pattern in MACHINE_LANGUAGE.items():
        for found in pattern.finditer(words):
            yield f"{name}: …{words[max(found.start() - 60, 0) : found.end() + 40]!r}…"


@pytest.fixture
def running() -> Study:
    """A study whose arms have names that only files should show, with few answers to one question and all results of the others."""
    study = recruiting_study(
        allocation={"planned_participants": 400},
        arms=ARMS,
        control="old_lecture",
        die=TELLING_DIE,
        entry={"kind": "codes"},
    )
    add_entry_codes(study, codes=["KXTF4M9P"], actor=study.owner)
    add_finished_people(study, 120, cheaters=0.0, prevalence=0.1, effect=0.0)
    compute(study)
    return study


@pytest.fixture
def only_one_arm_answered() -> Study:
    study = recruiting_study(allocation={"planned_participants": 48}, arms=ARMS, control="old_lecture", die=TELLING_DIE)
    add_finished_people(study, 1)
    compute(study)
    return study


def pages(client: Client, study: Study) -> Iterator[tuple[str, HttpResponse]]:
    parameters_of = own_routes()
    given: dict[str, Any] = {**ARGUMENTS, "slug": study.slug, "arm": study.definition["arms"][0]["name"]}
    for name in (*EVERYWHERE, *RECRUITING):
        if ":api_" in name or name in ABOUT_FILES or "log_out" in name or "logout" in name:
            continue
        response = client.get(reverse(name, kwargs={parameter: given[parameter] for parameter in parameters_of[name]}))
        if response.status_code == 200 and response["Content-Type"].startswith("text/html"):
            yield name, response


@pytest.mark.parametrize("role", [Role.INVESTIGATOR, Role.IRB_OFFICER, Role.ADMINISTRATOR])
def test_no_page_of_a_study_speaks_the_machines_language(running: Study, role: Role) -> None:
    reader = running.owner if role == Role.INVESTIGATOR else person(role)
    shown = dict(pages(logged_in(reader), running))
    assert len(shown) > 15
    wrong = [f"{name}: {found}" for name, response in shown.items() for found in machine_language(words_of(response))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("make", [draft_study, recruiting_study])
def test_no_page_of_a_study_without_answers_does(make: Callable[[], Study]) -> None:
    study = make()
    wrong = [f"{name}: {found}" for name, page in pages(logged_in(study.owner), study) for found in machine_language(words_of(page))]
    assert not wrong, "\n".join(wrong)


def test_too_few_answers_are_said_in_words(only_one_arm_answered: Study) -> None:
    study = only_one_arm_answered
    words = words_of(logged_in(study.owner).get(reverse("analysis:results", args=[study.slug])))
    assert not list(machine_language(words))
    assert re.search(r"Too few answers for an estimate: .+ has 0 answers, and at least 1 answer is needed\.", words)


@pytest.mark.parametrize(
    "sentence",
    [
        "efficient_with_covariates, new_lecture: no standard error",
        "between -0 and +46",
        "(-0 to +46)",
        "-0.000",
        "1 degrees of freedom",
        "too few answers in arm 'second': needed at least 1, found 0",
        "ended on 2026-03-04",
        "ended on 03/04/2026",
        "approved by None",
    ],
)
def test_the_search_finds_what_the_pages_once_said(sentence: str) -> None:
    assert list(machine_language(f"Some words before, {sentence} and after."))


@pytest.mark.parametrize("sentence", ["from −0.3 to 0", "the student’s ‘own’ words", "11 people, 0.1 questions", "covid-0", "at 10-05"])
def test_the_search_leaves_peoples_words_alone(sentence: str) -> None:
    assert not list(machine_language(sentence))


LABELS = {"old_lecture": "Slides only", "new_lecture": "Instructor"}


@pytest.mark.parametrize(
    ("note", "plain"),
    [
        (f"difference_in_means, new_lecture: {contrasts.UNBOUNDED}", f"“Instructor”, difference in means: {contrasts.UNBOUNDED}"),
        (
            effects.PREVALENCE_OUTSIDE.format(arm="new_lecture", raw=1.04),
            "The prevalence in arm “Instructor” was estimated at 1.040, outside [0, 1]: the most likely possible one is given.",
        ),
        (
            effects.FEW_ANSWERS.format(found=1, answer="yes", arm="new_lecture", subsample="1"),
            "Only 1 person said yes in “Instructor”, subsample 1: intervals and p-values are rough.",
        ),
        (
            effects.FEW_ANSWERS.format(found=4, answer="“More often”", arm="new_lecture", subsample="1"),
            "Only 4 people said “More often” in “Instructor”, subsample 1: intervals and p-values are rough.",
        ),
        (
            direct_comparison.SUPPRESSED.format(smallest=5, arm="old_lecture"),
            "Fewer than 5 people in “Slides only” said yes, or fewer than 5 said no: the numbers of this arm are withheld.",
        ),
        (
            "doubly_robust, new_lecture: working model of arm 'old_lecture', subsample '2': no covariate",
            "“Instructor”, doubly robust, with background answers: Working model of “Slides only”, subsample 2: no covariate.",
        ),
    ],
)
def test_notes_of_the_library_are_said_in_words(note: str, plain: str) -> None:
    assert plain_note(note, arms=LABELS) == plain.replace("in arm “", "in “")


def test_reasons_of_the_library_are_said_in_words() -> None:
    error = TooFewResponsesError(needed=2, found=0, of="subsample '1'")
    assert plain_reason(str(error), arms=LABELS) == (
        "Too few answers for an estimate: subsample 1 has 0 answers, and at least 2 answers are needed."
    )
    assert plain_reason("the model has no solution", arms=LABELS) == "The model has no solution."


def test_the_log_says_the_time_zone(running: Study) -> None:
    words = page_of(logged_in(running.owner).get(reverse("surveys:study_log", args=[running.slug]))).xpath("string(//main//time)")
    assert re.fullmatch(r"\w+\.? \d+, 20\d\d, \d\d:\d\d UTC", words)


def test_there_is_a_favicon_where_browsers_look_for_it(client: Client) -> None:
    response = client.get("/favicon.ico")
    assert (response.status_code, response["Location"]) == (302, "/static/images/favicon.svg")


def test_every_table_that_can_scroll_can_have_the_focus(running: Study) -> None:
    """A table that is wider than the screen is reached by keyboard: it stands in a region with a name and a tab stop."""
    wrong = []
    for name, response in pages(logged_in(running.owner), running):
        wrong += [
            f"{name}: {' '.join(frame.text_content().split())[:60]}"
            for frame in page_of(response).xpath("//main//*[contains(@class, '-scroll')]")
            if not frame.xpath("self::*[@tabindex='0' and @role='region' and (@aria-label or @aria-labelledby)]")
        ]
    assert not wrong, "\n".join(wrong)
