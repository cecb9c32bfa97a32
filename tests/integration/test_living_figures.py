"""The points of a figure say the same numbers as its table and the API, on wide and narrow screens, for open and for blinded readers."""

import csv
from datetime import date, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from lxml import etree

from analysis.models import RunKind
from surveys.batches.recount import wrong_counts
from surveys.batches.services import count_again
from surveys.bots.services import give_batch_a_day
from surveys.models import Participant, Step, Study
from tests.factories import logged_in, page_of, recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people, compute

pytestmark = pytest.mark.django_db
Numbers = dict[str, float]


@pytest.fixture
def study() -> Study:
    """Two batches, of which the second reaches the planned number."""
    study = recruiting_study(
        allocation={"planned_participants": 320}, die=TELLING_DIE, questions=[{"name": "attention", "text": "Did your attention wander?"}]
    )
    for seed, people in ((1, 220), (2, 100)):
        add_finished_people(study, people, seed=seed, cheaters=0.0, prevalence=0.3, effect=0.4)
        compute(study, *([RunKind.FIRST_RESULTS] if seed == 1 else RunKind))
    return study


@pytest.fixture
def client(study: Study) -> Client:
    return logged_in(study.owner)


def points(document: etree._Element) -> dict[str, Numbers]:
    """The numbers of the points of a figure in full, by their names."""
    marks = document.iterfind(".//{*}g[@data-mark]")
    return {
        str(mark.get("data-mark")): {
            name.removeprefix("data-"): float(text) for name, text in mark.items() if name.startswith("data-") and name != "data-mark"
        }
        for mark in marks
    }


def figure(client: Client, study: Study, name: str, query: str = "") -> list[Numbers]:
    file = client.get(reverse("analysis:figure", args=[study.slug, name, "svg"]) + query)
    return list(points(etree.fromstring(file.content)).values())


def table(client: Client, study: Study, name: str, query: str = "") -> list[dict[str, str]]:
    file = client.get(reverse("analysis:table", args=[study.slug, name]) + query)
    return list(csv.DictReader(file.content.decode().splitlines()))


def numbers(row: dict[str, str], **columns: str) -> Numbers:
    return {name: float(row[column]) for name, column in columns.items() if row[column]}


@pytest.mark.parametrize("query", ["", "?blinded=1"])
def test_points_say_the_numbers_of_the_tables_and_of_the_api(client: Client, study: Study, query: str) -> None:
    effects = [row for row in table(client, study, "sequences", query) if row["quantity"] == "effect"]
    assert figure(client, study, "forest-attention", query) == [
        numbers(row, value="estimate", low="low", high="high", n="n") for row in effects
    ]
    said = client.get(reverse("analysis:api_results", args=[study.slug]) + query).json()["full_results"]["outcomes"][0]["sequence"]
    in_api = [{"value": one["value"], **{end: one["interval"][end] for end in ("low", "high")}, "n": said["n"]} for one in said["effects"]]
    assert figure(client, study, "forest-attention", query) == in_api
    running = table(client, study, "running", query)
    assert len(running) == 2
    assert figure(client, study, "running-attention", query) == [
        numbers(row, value="estimate", low="anytime_low", high="anytime_high", n="n") for row in running
    ]
    balance = [numbers(row, value="standardised_difference") for row in table(client, study, "balance", query)]
    assert figure(client, study, "balance", query) == [row for row in balance if row]
    planned = [row for row in table(client, study, "estimates", query) if row["quantity"] == "effect"]
    columns = {"value": "estimate", "low": "low", "high": "high", "second-low": "bootstrap_low", "second-high": "bootstrap_high", "n": "n"}
    assert figure(client, study, "planned-attention", query) == [numbers(row, **columns) for row in planned]
    everybody, *groups = table(client, study, "participants", query)
    counts = [everybody[name] for name in ("consented", "declined", "assigned", "withdrew")]
    counts += [row[name] for row in groups for name in ("assigned", "saw_the_lecture", "answered")]
    assert [one["n"] for one in figure(client, study, "participants", query)] == list(map(float, counts))
    days = [numbers(row, agreed="consented_so_far", answered="answered_so_far") for row in table(client, study, "enrolment", query)]
    assert len(days) > 1
    assert figure(client, study, "enrolment", query) == days


@pytest.mark.parametrize("query", ["", "?blinded=1"])
def test_both_drawings_and_the_table_have_the_same_points_and_blinded_ones_name_no_arm(client: Client, study: Study, query: str) -> None:
    page = page_of(client.get(reverse("analysis:results", args=[study.slug]) + query))
    figures = page.xpath("//figure[@data-figure]")
    assert len(figures) == 6
    for one in figures:
        wide, narrow = (points(one.xpath(f'.//div[@class="{width}"]')[0]) for width in ("wide", "narrow"))
        assert wide == narrow
        assert wide
        if behind := one.xpath(".//details//tbody//th"):
            assert [cell.text_content() for cell in behind] == list(wide)
        if query:
            assert not any("slides" in name.lower() or "instructor" in name.lower() for name in wide)


def test_people_who_wait_for_a_batch_change_no_point() -> None:
    add_finished_people(study := recruiting_study(die=TELLING_DIE, allocation={"planned_participants": 200}), 100)
    compute(study, RunKind.FIRST_RESULTS)

    def shown() -> list[dict[str, Numbers]]:
        page = page_of(logged_in(study.owner).get(reverse("analysis:results", args=[study.slug])))
        return [points(one) for one in page.xpath("//figure")]

    assert any(before := shown())
    add_finished_people(study, 9, seed=3, counted=False)
    assert shown() == before


def test_only_the_bots_of_a_counted_batch_get_its_simulated_day() -> None:
    add_finished_people(study := recruiting_study(allocation={"planned_participants": 60}), 60)
    today, day = date.today(), date.today() - timedelta(days=11)
    Participant.objects.filter(study=study).update(consented_on=today, finished_on=today)
    of_today = Participant.objects.filter(study=study, step=Step.FINISHED)
    keys = list(of_today.values_list("pk", flat=True))
    earlier, batch, waiting = keys[:5], keys[5:15], keys[15:17]
    Participant.objects.filter(pk__in=earlier).update(is_bot=True, consented_on=day, finished_on=day)
    Participant.objects.filter(pk__in=[*batch, *waiting]).update(is_bot=True)
    Participant.objects.filter(pk__in=waiting).update(counted=False)
    count_again(study)
    others = set(Participant.objects.exclude(pk__in=batch).values_list("pk", "consented_on", "finished_on"))
    assert give_batch_a_day(study, day, today=today) == 10
    assert wrong_counts(study) == {}
    assert set(Participant.objects.filter(pk__in=batch).values_list("consented_on", "finished_on")) == {(day, day)}
    assert set(Participant.objects.exclude(pk__in=batch).values_list("pk", "consented_on", "finished_on")) == others
