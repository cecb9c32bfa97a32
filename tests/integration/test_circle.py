"""Friends and their ties among the background questions: built, answered as two numbers that fit each other, counted, never with a name."""

from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from candor.packages.archive import files_in
from surveys.bots.circles import draw_circle
from surveys.bots.population import Population
from surveys.journey.fields import field_view
from surveys.journey.forms import errors_of, read_fields
from surveys.models import Participant, StudyStatus
from surveys.questions.background import MOST_FRIENDS, Circle, pairs_among
from surveys.review.changes import changes_between
from surveys.studies import services as studies
from surveys.study_file import read_study_file
from tests.factories import document, draft_study, logged_in, page_of, participant_of, person, recruiting_study, study_in, walk
from tests.finished_people import TELLING_DIE, add_finished_people, count_everybody
from tests.integration.test_builder import address, definition_of, inputs
from tests.releases import built_release, package_of
from tests.unit.surveys.journey.test_forms import typed

pytestmark = pytest.mark.django_db
CIRCLE = {"kind": "circle", "name": "team", "text": {"en": "Who do you learn with?", "de": "Mit wem lernst du?"}, "role": "sensitive"}


def test_a_circle_is_built_and_stays_as_it_is() -> None:
    study = draft_study(languages=["en"], background=[])
    browser = logged_in(study.owner)
    page = reverse("surveys:build_add", args=[study.slug, "background"])
    sent = {"text.en": "Who do you learn with?", "kind": "circle", "loaded": inputs(browser.get(page))["loaded"]}
    refused = browser.post(page, sent)
    assert "Choose what the answer means for privacy." in refused.content.decode()
    assert browser.post(page, sent | {"role": "sensitive"}).status_code == 302
    built = Circle(kind="circle", name="who_do_you_learn_with", text="Who do you learn with?", role="sensitive")
    assert definition_of(study).background == (built,)
    edit = address("build_item", study, "background", built.name)
    assert browser.post(edit, inputs(browser.get(edit))).status_code == 302
    assert definition_of(study).background == (built,)
    listed = page_of(browser.get(address("build_background", study))).xpath("string(//main)")
    assert "Friends" in listed.split("Who do you learn with?")[1]


@pytest.mark.parametrize(
    ("friends", "pairs", "stored", "said"),
    [
        ("3", "2", {"friends": 3, "pairs": 2}, None),
        ("8", "28", {"friends": 8, "pairs": 28}, None),
        ("0", "", {"friends": 0, "pairs": 0}, None),
        ("1", "0", {"friends": 1, "pairs": 0}, None),
        ("", "", None, None),
        ("2", "", None, "Enter how many pairs of them are friends, or leave both numbers out."),
        ("", "1", None, "Enter how many friends, or leave both numbers out."),
        ("3", "4", None, "With 3 friends there are at most 3 pairs, not 4."),
        ("1", "1", None, "With 1 friends there are at most 0 pairs, not 1."),
        ("9", "2", None, "Enter a number from 0 to 8, not 9."),
        ("-1", "0", None, "Enter a number from 0 to 8, not -1."),
        ("8", "29", None, "Enter a number from 0 to 28, not 29."),
        ("2.5", "1", None, "Enter a whole number from 0 to 8, not “2.5”."),
        ("AB", "1", None, "Enter a whole number from 0 to 8, not “AB”."),
    ],
)
def test_two_numbers_that_fit_each_other_are_stored(
    client: Client, friends: str, pairs: str, stored: dict[str, int] | None, said: str | None
) -> None:
    study = recruiting_study(background=[CIRCLE])
    walk(client, study, until="background")
    where = reverse("surveys:journey", args=[study.slug])
    response = client.post(where, {"step": "background", "team.friends": friends, "team.pairs": pairs, "team.friend.1": "AB", "AB": "on"})
    if said is None:
        assert participant_of(client).background == ({} if stored is None else {"team": stored})
        return
    assert response.status_code == 422
    page = page_of(response)
    (link,) = page.xpath("//*[@role='alert']//a")
    assert said in link.text_content()
    assert page.get_element_by_id(link.get("href").removeprefix("#")).get("aria-invalid") == "true"
    assert page.get_element_by_id("team.friends").get("value") == friends
    assert participant_of(client).background == {}, "nothing is stored until it fits"


def test_a_question_called_like_an_input_of_a_circle_is_another_input(client: Client) -> None:
    number = {"kind": "number", "name": "team-friends", "text": "?", "role": "auxiliary", "minimum": 0, "maximum": 99}
    study = recruiting_study(background=[CIRCLE, number])
    walk(client, study, until="background")
    where = reverse("surveys:journey", args=[study.slug])
    client.post(where, {"step": "background", "team.friends": "1", "team-friends": "70"})
    assert participant_of(client).background == {"team": {"friends": 1, "pairs": 0}, "team-friends": 70}


@pytest.mark.parametrize(("language", "said"), [("en", "Only two numbers are sent"), ("de", "Nur zwei Zahlen werden gesendet")])
def test_without_a_script_the_page_asks_for_two_numbers_and_no_form_has_a_field_for_names(client: Client, language: str, said: str) -> None:
    study = recruiting_study(background=[CIRCLE])
    page = page_of(walk(client, study, until="background", answers={"welcome": {"language": language}}))
    circle = page.get_element_by_id("team")
    assert said in " ".join(page.get_element_by_id(part).text_content() for part in circle.get("aria-describedby").split())
    assert circle.xpath(".//input/@name") == ["team.friends", "team.pairs"]
    assert circle.xpath(".//template//input")
    assert not circle.xpath(".//template//input/@name")
    assert circle.xpath(".//*[@data-circle-page]/@hidden"), "a script shows it"


def test_the_preview_shows_the_circle_and_stores_nothing() -> None:
    study = draft_study(background=[CIRCLE])
    browser = logged_in(study.owner)
    page = reverse("surveys:preview", args=[study.slug]) + "?step=background"
    assert page_of(browser.get(page)).get_element_by_id("team.pairs").get("value") == ""
    assert browser.post(page, {"step": "background", "team.friends": "2", "team.pairs": "1"}).status_code == 303
    assert not Participant.objects.exists()


def test_bots_fill_in_a_planted_network() -> None:
    definition = definition_of(draft_study(background=[CIRCLE]))
    population = Population.of(definition, prevalence=0.4, effect=0, cheater_proportion=0, behaviour="random")
    rng = np.random.default_rng(3)
    fields = tuple(field_view(question, "en") for question in definition.background)
    given: list[dict[str, int]] = []
    for _bot in range(4000):
        answers, filled = read_fields(fields, typed(**population.draw(rng).answers))
        assert errors_of(filled) == []
        given += [answers["team"]] if "team" in answers else []
    assert 0.88 < len(given) / 4000 < 0.92, "a tenth leaves it blank"
    assert abs(np.mean([one["friends"] for one in given]) - 2.8) < 0.08
    assert abs(np.mean([one["pairs"] for one in given]) - 1.398) < 0.12


def test_the_planted_circles_fit_the_page() -> None:
    rng = np.random.default_rng(1)
    for friends, pairs in (draw_circle(rng) for _ in range(2000)):
        assert 0 <= friends <= MOST_FRIENDS
        assert 0 <= pairs <= pairs_among(friends)


def test_a_study_file_takes_the_circle_out_and_back_in(tmp_path: Path) -> None:
    study = draft_study(background=[CIRCLE])
    call_command("export_study", study.slug, output=tmp_path / "study.yaml")
    written = (tmp_path / "study.yaml").read_text(encoding="utf-8")
    assert read_study_file(written).background == definition_of(study).background


def test_the_comparison_of_protocols_names_a_question_that_became_a_circle() -> None:
    number = {"kind": "number", "name": "team", "text": CIRCLE["text"], "role": "sensitive", "minimum": 0, "maximum": 8}
    old, new = (definition_of(draft_study(slug=slug, background=[one])) for slug, one in (("old", number), ("new", CIRCLE)))
    found = changes_between(old, new, old_files={}, new_files={}, language_names={})
    assert ("number", "circle") in [(change.old, change.new) for change in found if change.section == "background"]


def test_the_packet_tells_officers_that_no_name_leaves_the_page() -> None:
    study = study_in(StudyStatus.IN_REVIEW, background=[CIRCLE])
    page = page_of(logged_in(person(Role.IRB_OFFICER)).get(reverse("surveys:protocol", args=[study.slug])))
    text = " ".join(page.text_content().split())
    assert "Only two numbers are sent and stored" in text
    assert "Up to 8 friends, and which of them are friends with each other" in text


def test_a_release_counts_friends_and_nothing_else_of_a_circle() -> None:
    background = [*document()["background"], CIRCLE]
    study = recruiting_study(background=background, die=TELLING_DIE, allocation={"planned_participants": 60, "block_multiples": [1]})
    add_finished_people(study, 40)
    for number, one in enumerate(Participant.objects.filter(study=study)):
        one.background |= {"team": {"friends": 2 + number % 2, "pairs": number % 2}}
        one.save()
    count_everybody(study)
    files = files_in(package_of(built_release(studies.close(study, actor=study.owner))))
    counts = [line for line in files["background-counts.csv"].decode().splitlines() if line.startswith("team,")]
    assert [line.split(",")[1] for line in counts] == [*("1 friend" if n == 1 else f"{n} friends" for n in range(9)), "not answered"]
    shown = sorted(line.split(",")[2] for line in counts if line.split(",")[2])
    assert shown == ["20"], "both have twenty; one of them hides the empty ones"
    assert "names were never sent" in files["codebook.md"].decode()
