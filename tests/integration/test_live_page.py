"""The live page: everything on it comes from counts and stored results, can be downloaded as a file, and hides the arms where it should."""

import csv
import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from lxml import etree

from accounts.models import Role
from analysis import services
from analysis.live.blinding import arm_names
from analysis.live.page import live_view
from analysis.live.progress import DayCount, days_left
from analysis.models import Blinding, Run, RunKind, RunStatus
from surveys.journey import services as participation
from surveys.models import AllocationSlot, Participant, Response, SlotStatus, Study
from surveys.studies import services as studies
from surveys.tokens import hash_of_withdrawal_code
from tests.factories import draft_study, logged_in, page_of, person, recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people, compute, count_everybody
from tests.jobs import work_on, work_on_part
from tests.releases import closed_study

pytestmark = pytest.mark.django_db
FIGURES = ("participants", "enrolment", "balance", "forest-attention", "running-attention")
TABLES = ("participants", "enrolment", "balance", "sequences", "estimates", "running")
ARMS = re.compile(r"slides|instructor", re.IGNORECASE)


@pytest.fixture
def study() -> Study:
    """In which treatment does better; titles and questions do not name the arms."""
    study = recruiting_study(
        allocation={"planned_participants": 400}, die=TELLING_DIE, questions=[{"name": "attention", "text": "Did your attention wander?"}]
    )
    add_finished_people(study, 200, cheaters=0.0, prevalence=0.3, effect=0.4)
    compute(study)
    return study


@pytest.fixture
def reached() -> Study:
    """As many people as planned, so that there is the planned analysis."""
    study = recruiting_study(
        allocation={"planned_participants": 200}, die=TELLING_DIE, questions=[{"name": "attention", "text": "Did your attention wander?"}]
    )
    add_finished_people(study, 200, cheaters=0.0, prevalence=0.3, effect=0.4)
    compute(study)
    return study


def get(study: Study, name: str = "results", client: Client | None = None, query: str = "", **arguments: str) -> HttpResponse:
    address = reverse(f"analysis:{name}", kwargs={"slug": study.slug, **arguments})
    return (client or logged_in(study.owner)).get(address + query)


def table(study: Study, name: str, query: str = "") -> list[dict[str, str]]:
    return list(csv.DictReader(get(study, "table", table=name, query=query).content.decode().splitlines()))


def words_of(response: HttpResponse) -> str:
    return " ".join(page_of(response).xpath("string(//main)").split())


def test_the_diagram_its_table_and_its_file_have_the_same_numbers(study: Study) -> None:
    groups = [row for row in table(study, "participants") if row["arm"] != "all"]
    assert sum(int(row["answered"]) for row in groups) == 200
    cells = page_of(get(study)).xpath('//*[@id="table-people"]//tbody/tr')
    shown = [[cell.text_content().strip() for cell in row] for row in cells]
    assert [row[2:] for row in shown] == [[row["assigned"], row["saw_the_lecture"], row["answered"]] for row in groups]
    drawn = etree.fromstring(get(study, "figure", figure="participants", kind="svg").content)
    numbers = [mark.text for mark in drawn.iterfind(".//{*}text[@class='count']")]
    assert numbers == ["200", "200", *(number for row in shown for number in row[2:])]


@pytest.mark.parametrize("figure", [*FIGURES, "planned-attention"])
def test_every_figure_is_a_file_without_style_or_script(reached: Study, figure: str) -> None:
    study = reached
    response = get(study, "figure", figure=figure, kind="svg")
    assert response["Content-Disposition"] == f'attachment; filename="{study.slug}-{figure}.svg"'
    root = etree.fromstring(response.content)
    assert root.get("aria-label") == root.findtext("{*}title")
    for mark in root.iter():
        assert etree.QName(mark).localname not in {"style", "script"}
        assert mark.get("style") is None
        assert mark.get("class") or mark is root or etree.QName(mark).localname == "title"


def test_estimates_as_a_file_say_what_is_not_for_publication(reached: Study) -> None:
    study = reached
    sequences = {row["method"]: row["for_publication"] for row in table(study, "sequences") if row["quantity"] == "effect"}
    assert sequences == {"efficient": "True", "efficient_with_covariates": "False"}
    rows = {row["method"]: row for row in table(study, "estimates") if row["quantity"] == "effect"}
    assert {method: row["for_publication"] for method, row in rows.items()} == {
        "difference_in_means": "True",
        "efficient": "True",
        "doubly_robust": "False",
        "efficient_with_covariates": "False",
    }
    assert all(row["bootstrap_seed"] == str(Run.objects.get(kind="full_results").seed) for row in rows.values())
    assert {row["for_publication"] for row in table(study, "balance")} == {"False"}


def test_missing_answers_are_told_beside_the_findings(study: Study) -> None:
    """On the page, and by program; people who are blinded read how many there are, and nothing of single arms."""
    missing = Response.objects.filter(participant__study=study, question="attention").order_by("pk")[:7]
    Response.objects.filter(pk__in=[one.pk for one in missing]).delete()
    results = compute(study)
    assert results["outcomes"]["attention"]["missing"]["missing"] == 7
    said = words_of(get(study))
    assert said.count("7 of 200 people did not answer this question. With any answers of theirs, the estimated change") == 1
    assert "7 of 200 people did not answer this question. Whatever" not in words_of(get(study, query="?blinded=1"))
    assert "7 of 200 people did not answer this question." in words_of(get(study, query="?blinded=1"))


def test_a_file_that_is_not_there_is_not_found(study: Study) -> None:
    assert get(study, "figure", figure="forest-unknown", kind="svg").status_code == 404
    assert get(study, "table", table="unknown").status_code == 404


def test_the_estimate_moves_with_the_answers(study: Study) -> None:
    add_finished_people(study, 100, seed=2)
    compute(study, RunKind.FIRST_RESULTS)
    assert [row["n"] for row in table(study, "running")] == ["200", "300"]


def test_what_holds_at_every_look_holds_in_95_of_100_studies(study: Study) -> None:
    """Under the table and under each question: nothing of a sample is simply true."""
    said = words_of(get(study))
    assert said.count("is true at every look in 95 of 100 studies, however often you look") >= 2
    assert "All this is true" not in said
    assert "all intervals of the whole study" not in said, "the share of cheaters and the effects have 95 % each"


def test_the_page_does_not_change_while_nothing_is_new(study: Study) -> None:
    client = logged_in(study.owner)
    page = page_of(get(study, client=client))
    query = "?" + page.xpath('//*[@id="results"]/@hx-get')[0].partition("?")[2]
    assert get(study, client=client, query=query).status_code == 204
    add_finished_people(study, 1, seed=3)
    assert get(study, client=client, query=query).status_code == 200


def test_looking_whether_something_is_new_counts_nobody(study: Study) -> None:
    client = logged_in(study.owner)
    query = "?" + page_of(get(study, client=client)).xpath('//*[@id="results"]/@hx-get')[0].partition("?")[2]
    with CaptureQueriesContext(connection) as asked:
        assert get(study, client=client, query=query).status_code == 204
    statements = [one["sql"] for one in asked]
    of_people = [one for one in statements if '"surveys_participant"' in one]
    # People who wait have an index of their own, and ten of the others are enough.
    assert all("NOT counted" in one or 'NOT "surveys_participant"."counted"' in one or "LIMIT 10" in one for one in of_people), of_people
    assert not any("surveys_response" in one or '"analysis_run"."results"' in one for one in statements)


@pytest.mark.parametrize("ended", [False, True])
def test_the_page_is_new_when_somebody_left_the_numbers(study: Study, ended: bool) -> None:
    if ended:
        studies.close(study, actor=study.owner)
    client = logged_in(study.owner)
    query = "?" + page_of(get(study, client=client)).xpath('//*[@id="results"]/@hx-get')[0].partition("?")[2]
    assert get(study, client=client, query=query).status_code == 204
    Participant.objects.filter(pk=Participant.objects.filter(study=study, counted=True).first().pk).update(
        withdrawal_hash=hash_of_withdrawal_code("0123-4567-89AB-CDEF")
    )
    assert participation.withdraw(study, code="0123-4567-89AB-CDEF")
    assert get(study, client=client, query=query).status_code == 200


def test_groups_of_another_size_than_planned_raise_the_alarm(study: Study) -> None:
    assert "The groups are not of the planned size" not in words_of(get(study))
    AllocationSlot.objects.filter(study=study, status=SlotStatus.FREE, arm="slides").update(status=SlotStatus.TAKEN)
    count_everybody(study)
    assert "Chance hardly explains it" in words_of(get(study))


@pytest.mark.usefixtures("all_replicates")
def test_work_can_be_watched_stopped_and_asked_for(study: Study, committed: Callable[..., Any]) -> None:
    client = logged_in(study.owner)
    address = reverse("analysis:compute", args=[study.slug])
    with committed():
        client.post(address, {"action": "start"})
    run = Run.objects.get(status=RunStatus.QUEUED)
    work_on(run)
    work_on_part(run)
    assert re.search(r"\d+ % done \(1 of 11 parts\)", words_of(get(study)))
    assert "The computation was stopped." in words_of(client.post(address, {"action": "cancel"}, follow=True))
    assert "The computation of all methods was stopped." in words_of(get(study))


def test_nobody_else_may_start_stop_or_blind(study: Study) -> None:
    for stranger in (person(Role.INVESTIGATOR), person(Role.IRB_OFFICER), person(Role.ANALYST)):
        for name in ("compute", "blinding"):
            response = logged_in(stranger).post(reverse(f"analysis:{name}", args=[study.slug]), {"action": "cancel", "on": "1"})
            assert response.status_code in (403, 404)
    assert not hasattr(study, "blinding")


@pytest.mark.parametrize("asked", [{}, {"action": "stop", "on": "yes"}], ids=str)
def test_an_unknown_wish_starts_nothing_and_shows_no_arm(study: Study, asked: dict[str, str]) -> None:
    owner = logged_in(study.owner)
    owner.post(reverse("analysis:blinding", args=[study.slug]), {"on": "1"})
    before = Run.objects.filter(kind=RunKind.FULL_RESULTS).count()
    for name in ("compute", "blinding"):
        assert owner.post(reverse(f"analysis:{name}", args=[study.slug]), asked).status_code == 400
    assert Run.objects.filter(kind=RunKind.FULL_RESULTS).count() == before
    assert Blinding.objects.get(study=study).is_active


def seen_by_blinded(study: Study, query: str = "?blinded=1") -> str:
    """All text of the refreshed part of the page and of every file, without the addresses."""
    page = etree.tostring(page_of(get(study, query=query)).xpath('//*[@id="results"]')[0], encoding="unicode")
    files = [get(study, "figure", figure=name, kind="svg", query=query).content.decode() for name in FIGURES]
    files += [get(study, "table", table=name, query=query).content.decode() for name in TABLES]
    return page + "".join(files)


def test_a_blinded_reader_sees_letters_on_the_page_and_in_every_file(study: Study) -> None:
    assert ARMS.search(seen_by_blinded(study, query=""))
    assert ARMS.findall(seen_by_blinded(study).replace("/s/" + study.slug, "")) == []


def test_a_study_that_is_blinded_is_so_for_everybody_until_it_is_closed(study: Study) -> None:
    services.blind(study, on=True, actor=study.owner)
    assert ARMS.findall(seen_by_blinded(study, query="")) == []
    assert ARMS.findall(words_of(get(study, client=logged_in(person(Role.ADMINISTRATOR))))) == []
    assert "Looks for new answers" in words_of(get(study))
    studies.close(study, actor=study.owner)
    assert "Looks for new answers" not in words_of(get(study)), "there are no new ones"
    assert "Slides with the instructor minus Slides only" in words_of(get(study))


def test_letters_do_not_tell_which_arm_is_the_control(reached: Study) -> None:
    """Contrasts are B − A whatever A is; the numbers are turned round where A is the treatment."""
    study = reached
    view = live_view(study, reader=study.owner, language="en", ask_blinded=True)
    assert view is not None
    names = {letter: arm for arm, letter in arm_names(study, view.definition, blinded=True, language="en").files.items()}
    sign = 1 if names["B"] == "instructor" else -1
    for name in ("sequences", "estimates"):
        blinded, plain = (
            next(row for row in table(study, name, query) if (row["quantity"], row["method"]) == ("effect", "efficient"))
            for query in ("?blinded=1", "")
        )
        assert (blinded["arm"], blinded["against"]) == ("B", "A")
        assert float(blinded["estimate"]) == sign * float(plain["estimate"])
        ends = [sign * float(plain[end]) for end in ("low", "high")][::sign]
        assert [float(blinded[end]) for end in ("low", "high")] == ends
    ends = [sign * float(plain[end]) for end in ("bootstrap_low", "bootstrap_high")][::sign]
    assert [float(blinded[end]) for end in ("bootstrap_low", "bootstrap_high")] == ends


def test_some_studies_have_the_control_as_a_and_some_as_b() -> None:
    study = recruiting_study()
    view = live_view(study, reader=study.owner, language="en", ask_blinded=True)
    assert view is not None
    letters = set()
    for number in range(30):
        study.pk = number
        letters.add(arm_names(study, view.definition, blinded=True, language="en").files["slides"])
    assert letters == {"A", "B"}


def test_with_three_arms_a_blinded_reader_sees_no_contrast_with_the_control() -> None:
    from tests.factories import document

    arms = [*document()["arms"]]
    third = {**arms[1], "name": "third-arm", "label": {"en": "Third", "de": "Dritter"}}
    study = recruiting_study(allocation={"planned_participants": 300}, arms=[*arms, third])
    add_finished_people(study, 300)
    compute(study)
    assert "they are shown when the study is closed" in words_of(get(study, query="?blinded=1"))
    for name in ("sequences", "estimates"):
        assert [row for row in table(study, name, "?blinded=1") if row["quantity"] in ("effect", "honest_times_effect")] == []
    assert table(study, "balance", "?blinded=1") == table(study, "running", "?blinded=1") == []
    assert {row["arm"] for row in table(study, "participants", "?blinded=1")} == {"all"}


def test_a_draft_has_an_empty_page() -> None:
    study = draft_study()
    assert "No results yet" in words_of(get(study))
    response = logged_in(study.owner).post(reverse("analysis:compute", args=[study.slug]), {"action": "start"}, follow=True)
    assert "There is nothing to compute yet." in words_of(response)


def test_a_closed_study_shows_no_address_for_participants_and_says_why_its_days_end_below_all() -> None:
    study = closed_study(people=96)
    page = get(study)
    assert "The study is closed. Its results appear here by themselves" in words_of(page)
    assert not page_of(page).xpath('//*[@id="results"]//*[@class="link-box"]')
    assert "answered: 90" in words_of(page)
    assert "Days are counted in whole tens, so a line can end up to nine people below the number of all." in words_of(page)
    assert "Days are counted in whole tens" not in words_of(get(closed_study(people=80, slug="whole-tens")))


def test_the_number_of_queries_does_not_grow_with_people_or_history(study: Study, django_assert_max_num_queries: Any) -> None:
    client = logged_in(study.owner)
    for seed in range(3):
        add_finished_people(study, 20, seed=10 + seed)
        compute(study, RunKind.FIRST_RESULTS)
    with django_assert_max_num_queries(21):  # one looks again whether somebody withdrew meanwhile
        assert get(study, client=client).status_code == 200


def days(*finished: int) -> tuple[DayCount, ...]:
    start, so_far = date(2030, 1, 1), 0
    found = []
    for index, count in enumerate(finished):
        so_far += count
        day = start + timedelta(days=index)
        found.append(DayCount(day=day, consented=count, finished=count, consented_so_far=so_far, finished_so_far=so_far))
    return tuple(found)


def test_days_left_follow_the_last_week() -> None:
    quick_then_slow = days(500, *[10] * 7)
    # 570 are there; at ten a day the other 30 take three days.
    assert days_left(quick_then_slow, planned=600, today=date(2030, 1, 8)) == 3
    assert days_left(quick_then_slow, planned=570, today=date(2030, 1, 8)) is None
    assert days_left(quick_then_slow, planned=600, today=date(2030, 3, 1)) is None
    assert days_left(days(10), planned=40, today=date(2030, 1, 1)) == 3
    assert days_left((), planned=40, today=date(2030, 1, 1)) is None
