"""The pages on which protected records are prepared, chosen and read; and the same for programs."""

import random
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from analysis.answers.record_schemas import schema_of_study
from analysis.answers.study_records import suggested_hierarchies, values_of
from analysis.models import RecordHierarchies, RecordSweep, Release
from analysis.packages.errors import ReleaseError
from analysis.records.indented import to_chains, to_list
from analysis.records.services import save_hierarchy, start_sweep, stop_sweep
from analysis.records.sweeping import queries
from analysis.releases import services
from audit.models import Entry
from surveys.journey import services as participation
from surveys.models import Participant, Study
from surveys.protocols import protocol_in_force
from surveys.retention.services import forget_operational_data
from surveys.tokens import hash_of_withdrawal_code
from tests.api_requests import get, post, problem
from tests.factories import draft_study, logged_in, page_of, person
from tests.finished_people import compute
from tests.jobs import attempt, claimed, work_off, work_on, work_on_part
from tests.releases import CHOICES, built_release, closed_study, published_release, requested_release

pytestmark = pytest.mark.django_db
CODE = "AAAA-BBBB-CCCC-DDDD"
RECORDS = {"background": "records", "protection": {"k": 4, "class_size": 6, "l": {}, "suppress": 0.02}}


@pytest.fixture
def study() -> Study:
    return closed_study()


def address(study: Study) -> str:
    return reverse("analysis:records", args=[study.slug])


def text_of(response: Any) -> str:
    return " ".join(page_of(response).text_content().split())


def fields(**changes: str) -> dict[str, Any]:
    return {
        "title": "Data",
        "authors": "Lovelace, Ada",
        "licence": "CC0-1.0",
        "questions": ["attention"],
        "data": "people",
        "background": "records",
        "smallest_count": "10",
        "k": "4",
        "class_size": "4",
        "suppress": "2",
        "l-courses.grade": "",
    } | changes


def test_a_sweep_says_what_is_possible_and_shows_nobodys_record(study: Study) -> None:
    client = logged_in(study.owner)
    assert "Try every class size" in text_of(client.get(address(study)))
    client.post(address(study), {"action": "start", "data": "people"})
    sweep = RecordSweep.objects.get()
    assert [part["size"] for part in sweep.plan[:6]] == [2, 3, 5, 8, 12, 20]
    assert f"0 of {len(sweep.plan)} are tried." in text_of(client.get(address(study)))
    work_off(sweep)
    sweep.refresh_from_db()
    assert (sweep.status, len(sweep.found), sweep.due_at) == ("done", len(sweep.plan), None)
    plain = [one for one in sweep.found if one.get("level") == 0]
    assert [one["prosecutor"] for one in plain] == sorted((one["prosecutor"] for one in plain), reverse=True)
    assert plain[0]["loss"] < plain[-1]["loss"]
    assert plain[0]["largest"]["courses.grade"] >= 2
    assert all(0 <= one["error"] < 2 for one in plain)
    shown = page_of(client.get(address(study)))
    assert len(shown.xpath('//figure//*[local-name()="svg"]')) >= 3
    assert len(shown.xpath('//table//tbody/tr[.//*[contains(text(), "gender: ")]]')) == 20
    assert "Largest possible ℓ" in text_of(client.get(address(study)))
    compared = page_of(client.get(reverse("analysis:records_or_query", args=[study.slug])))
    assert len(compared.xpath("//figure")) == 2
    [anonymise, query] = compared.xpath("//figure//table")
    assert len(anonymise.xpath(".//tbody/tr")) == 6
    assert [row.xpath("string(th)") for row in query.xpath(".//tbody/tr")] == ["0.5", "1", "2", "4", "10"]
    assert "Records with classes of 5 are wrong by" in text_of(client.get(reverse("analysis:records_or_query", args=[study.slug])))
    told = get(study.owner, f"studies/{study.slug}/records/or-query/")
    assert (told["status"], told["queries"], len(told["records"])) == ("done", 40, 6)
    desk = {one["epsilon"]: one["error"] for one in told["desk"]}
    assert desk[10] < desk[0.5]
    for one in told["records"]:
        better = [epsilon for epsilon, error in desk.items() if error <= one["error"]]
        assert one["as_good_as"] == min(better, default=None)


def test_a_sweep_that_is_stopped_keeps_what_it_found_and_one_of_too_few_people_is_refused(study: Study) -> None:
    client = logged_in(study.owner)
    sweep = start_sweep(study, simulated=False, actor=study.owner)
    work_on(sweep)
    work_on_part(sweep)
    assert "The search was stopped." in text_of(client.post(address(study), {"action": "stop"}, follow=True))
    sweep.refresh_from_db()
    assert (sweep.status, len(sweep.found), sweep.due_at) == ("stopped", 1, None)
    assert "Stopped after 1 of" in text_of(client.get(address(study)))
    with pytest.raises(ReleaseError, match="once the study is closed"):
        start_sweep(another := draft_study(slug="another-study"), simulated=False, actor=another.owner)


def test_the_answer_to_a_step_has_no_numbers_because_it_may_be_kept(study: Study) -> None:
    """It would be given again after a withdrawal has deleted them."""
    requested_release(study, **RECORDS)
    sweep = start_sweep(study, simulated=False, actor=study.owner)
    work_on(sweep)
    work_on_part(sweep)
    program, path = logged_in(study.owner), f"studies/{study.slug}/records/"
    for done in (post(program, f"{path}stop/"), post(program, f"{path}hierarchies/", {"attribute": "devices", "hierarchy": None})):
        told = done.json()
        assert (told["sweep"]["status"], told["sweep"]["found"], told["verdict"]["records"]) == ("stopped", [], None)
    read = get(study.owner, path)
    assert len(read["sweep"]["found"]) == 1
    assert read["verdict"]["records"]["risks"]


def test_the_comparison_starts_and_stops_the_same_search(study: Study) -> None:
    client, page = logged_in(study.owner), reverse("analysis:records_or_query", args=[study.slug])
    assert "Ask both" in text_of(client.get(page))
    assert get(study.owner, f"studies/{study.slug}/records/or-query/")["status"] is None
    client.post(page, {"action": "start", "data": "people"})
    assert "are tried." in text_of(client.get(page))
    assert "The search was stopped." in text_of(client.post(page, {"action": "stop"}, follow=True))
    assert "Choose what is to be done." in text_of(client.post(page, {}, follow=True))
    assert "Which answers better?" not in text_of(client.get(page))
    refused = draft_study(slug="another-study", owner=study.owner)
    other = reverse("analysis:records_or_query", args=[refused.slug])
    assert "once the study is closed" in text_of(client.post(other, {"action": "start"}, follow=True))


def test_counts_are_of_a_label_and_of_success(study: Study) -> None:
    asked = queries(schema_of_study(protocol_in_force(study).definition), random.Random(1))
    assert len(asked) == 40
    grades = [one.child.values["courses.grade"] for one in asked if one.child is not None and one.child.values]
    assert len(grades) == 20
    assert all(labels == values_of(protocol_in_force(study).definition.background)["courses.grade"][5:] for labels in grades)
    assert all(one.child.labels for one in asked if one.child is not None and one.child.values)


def test_a_withdrawal_deletes_what_was_found_with_the_person(study: Study) -> None:
    one = Participant.objects.filter(study=study).values_list("pk", flat=True)[0]
    Participant.objects.filter(pk=one).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    other = start_sweep(study, simulated=False, actor=study.owner)
    other.pk, other.study = None, draft_study(slug="another-study")
    other.save(force_insert=True)
    work_on(start_sweep(study, simulated=False, actor=study.owner))
    assert stop_sweep(study, actor=study.owner)
    participation.withdraw(study, code=CODE)
    assert [(kept.study, kept.status) for kept in RecordSweep.objects.all()] == [(other.study, "running")], "that of another study goes on"


def test_a_hierarchy_is_edited_as_an_indented_list_and_used_in_the_release(study: Study) -> None:
    client = logged_in(study.owner)
    listed = "binary\n  woman\n  man\nother\nnot answered"
    edited = client.post(address(study), {"action": "edit", "attribute": "gender", "listed": listed}, follow=True)
    assert "The hierarchy was kept." in text_of(edited)
    assert RecordHierarchies.objects.get().document["gender"]["woman"] == ["woman", "binary", "*"]
    release = built_release(study, **RECORDS)
    assert release.protection is not None
    assert release.protection["hierarchies"]["gender"]["man"] == ["man", "binary", "*"]
    actions = list(Entry.objects.filter(action="records.hierarchy_changed").values_list("details", flat=True))
    assert actions == [{"attribute": "gender", "suggested": False}]
    client.post(address(study), {"action": "suggested", "attribute": "gender"})
    assert RecordHierarchies.objects.get().document == {}


def test_a_sensitive_question_has_a_hierarchy_for_the_case_that_it_is_a_label(study: Study) -> None:
    client = logged_in(study.owner)
    assert "if it is treated as a quasi-identifier" in text_of(client.get(address(study)))
    grades = list(schema_of_study(protocol_in_force(study).definition).if_labels["courses.grade"])
    listed = "told\n" + "".join(f"  {grade}\n" for grade in grades if grade != "not answered") + "not answered"
    client.post(address(study), {"action": "edit", "attribute": "courses.grade", "listed": listed})
    chosen = RECORDS["protection"] | {"as_labels": ["courses.grade"]}
    assert "courses.grade" not in (built_release(study, **RECORDS).protection or {})["hierarchies"]
    services.discard(Release.objects.get(), actor=study.owner)
    release = built_release(study, **RECORDS | {"protection": chosen})
    assert (release.protection or {})["hierarchies"]["courses.grade"][grades[0]] == [grades[0], "told", "*"]


def test_a_program_hears_which_answer_has_no_place(study: Study) -> None:
    chains = {"woman": ["woman", "*"], "man": ["man", "*"], "not answered": ["not answered", "*"]}
    with pytest.raises(ReleaseError, match="The hierarchy of “gender” has no place for “other”"):
        save_hierarchy(study, attribute="gender", chains=chains, actor=study.owner)
    with pytest.raises(ReleaseError, match="“nobody” in the hierarchy of “gender” is no answer"):
        save_hierarchy(study, attribute="gender", chains=chains | {"other": ["other", "*"], "nobody": ["nobody", "*"]}, actor=study.owner)


def test_a_second_tab_does_not_undo_the_first_unseen(study: Study) -> None:
    client = logged_in(study.owner)
    [seen] = page_of(client.get(address(study))).xpath("//form[.//textarea[@id='listed-gender']]//input[@name='seen']/@value")
    lists = [f"{above}\n  woman\n  man\nother\nnot answered" for above in ("binary", "two")]
    first, second = (client.post(address(study), {"action": "edit", "attribute": "gender", "listed": one, "seen": seen}) for one in lists)
    assert (first.status_code, second.status_code) == (302, 422)
    assert "was changed meanwhile" in text_of(second)
    [again] = page_of(second).xpath("//form[.//textarea[@id='listed-gender']]")
    assert again.xpath(".//textarea")[0].text_content().split() == lists[1].split()
    [now] = again.xpath(".//input[@name='seen']/@value")
    assert client.post(address(study), {"action": "edit", "attribute": "gender", "listed": lists[1], "seen": now}).status_code == 302
    assert RecordHierarchies.objects.get().document["gender"]["woman"] == ["woman", "two", "*"]


def test_nothing_is_tried_once_operational_data_are_deleted(study: Study) -> None:
    """Attack: a page that read the study before the deletion began starts a search after it."""
    seen = Study.objects.get(pk=study.pk)
    forget_operational_data(study)
    with pytest.raises(ReleaseError, match="are deleted"):
        start_sweep(seen, simulated=False, actor=seen.owner)
    assert not RecordSweep.objects.exists()


def test_a_withdrawal_ends_a_search_that_a_worker_holds(study: Study) -> None:
    one = Participant.objects.filter(study=study).values_list("pk", flat=True)[0]
    Participant.objects.filter(pk=one).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    held = claimed(start_sweep(study, simulated=False, actor=study.owner))
    participation.withdraw(study, code=CODE)
    attempt(held)
    assert not RecordSweep.objects.exists(), "what the worker found with the person is kept nowhere"


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("woman\nman\nother", "The answer “not answered” has no place"),
        ("woman\nman\nother\nnot answered\nwoman", "Line 5: “woman” stands in the list twice"),
        ("woman\n  man\nother\nnot answered", "“woman” is an answer, so nothing can stand below it"),
        ("woman\nman\nother\nnot answered\nnobody", "“nobody” has nothing below it"),
        ("x" * 30_000, "at most 20000 letters"),
    ],
)
def test_a_list_with_a_mistake_is_shown_again_with_the_mistake(study: Study, listed: str, said: str) -> None:
    sent = logged_in(study.owner).post(address(study), {"action": "edit", "attribute": "gender", "listed": listed})
    assert sent.status_code == 422
    assert said in text_of(sent)
    [field] = page_of(sent).xpath('//textarea[@id="listed-gender"]')
    assert field.text_content().split() == listed.split()
    assert not RecordHierarchies.objects.exists()


def test_every_suggested_hierarchy_is_a_list_that_gives_itself_back(study: Study) -> None:
    for chains in suggested_hierarchies(protocol_in_force(study).definition.background).values():
        assert to_chains(to_list(chains), leaves=list(chains)) == chains


def test_the_form_of_a_release_takes_the_parameters_or_says_what_is_wrong(study: Study) -> None:
    client, releases = logged_in(study.owner), reverse("analysis:releases", args=[study.slug])
    wrong = client.post(releases, fields(k="1", suppress="many", **{"l-courses.grade": "x"}))
    assert wrong.status_code == 422
    for said in ("k: expected a whole number from 2", "Share left out", "ℓ of courses.grade: expected a whole number"):
        assert said in text_of(wrong)
    at_odds = client.post(releases, fields(as_labels="courses.grade", asked="nothing", **{"l-courses.grade": "2"}))
    for said in ("ℓ: expected sensitive questions", "Expected some of the questions devices, found nothing."):
        assert said in text_of(at_odds)
    client.post(releases, fields(anatomy="on", asked="devices", **{"l-courses.grade": "2"}))
    release = Release.objects.get()
    assert release.protection is not None
    kept = {name: value for name, value in release.protection.items() if name != "hierarchies"}
    numbers = {"k": 4, "class_size": 4, "l": {"courses.grade": 2}, "suppress": 0.02}
    assert kept == {**numbers, "as_labels": [], "anatomy": True, "asked": ["devices"], "auxiliary": []}
    [started] = Entry.objects.filter(action="release.started").values_list("details", flat=True)
    assert started["protection"] == kept


def test_the_officer_reads_the_verdict_and_everybody_the_same_numbers(study: Study) -> None:
    release = requested_release(study, **RECORDS)
    officer = person(Role.IRB_OFFICER)
    asked = text_of(logged_in(officer).get(reverse("analysis:releases_one", args=[study.slug, release.pk])))
    for said in (
        "The checker accepts them.",
        "Each of 96 records is shared by at least 4 people",
        "Answers keep their ε; background is protected syntactically only.",
        "What an insider learns",
        "What no parameter protects",
    ):
        assert said in asked
    assert "Standard errors of the effects" in asked
    assert "for you alone" not in asked
    compute(study)
    mine = text_of(logged_in(study.owner).get(reverse("analysis:releases_one", args=[study.slug, release.pk])))
    assert "With the answers themselves, for you alone" in mine
    assert re.search(r"× \d\.\d\d", mine)
    Release.objects.filter(pk=release.pk).update(status="discarded", package=None)
    public = published_release(study, officer=officer, **RECORDS)
    numbers = public.summary["records"]["risks"]
    page = text_of(Client().get(reverse("analysis:public_release", args=[study.slug, 1])))
    for said in ("The checker accepts them.", f"Smallest class{numbers['smallest_class']}", "What no parameter protects"):
        assert said in page
    again = text_of(logged_in(study.owner).get(reverse("analysis:releases", args=[study.slug])))
    assert "A new version publishes the same records" in again


def test_the_officer_confirms_on_the_page_or_by_a_program(study: Study) -> None:
    chosen = RECORDS["protection"] | {"asked": ["devices"], "anatomy": True}
    release, officer = requested_release(study, **RECORDS | {"protection": chosen}), person(Role.IRB_OFFICER)
    page, reader = reverse("analysis:releases_one", args=[study.slug, release.pk]), logged_in(officer)
    asked = text_of(reader.get(page))
    for said in ("Publish these answers as they are", "Many of them together identify", "of 96 people would share", "shuffled", "m/ℓ"):
        assert said in asked
    mine = text_of(logged_in(study.owner).get(page))
    assert "Asked to be published as they are" in mine
    assert "Confirm these" not in mine
    confirming = {"step": "confirm", "sha256": release.package_sha256}
    assert "by name" in text_of(reader.post(page, confirming, follow=True))
    reader.post(page, {**confirming, "attributes": ["devices"]})
    work_on(release)
    services.request_approval(Release.objects.get(), actor=study.owner)
    again = text_of(reader.get(page))
    assert "confirmed by name that these are published as they are: devices" in again
    assert "Confirm these" not in again
    services.discard(Release.objects.get(), actor=study.owner)
    requested_release(study, **RECORDS | {"protection": chosen})
    path = f"studies/{study.slug}/records/confirm/"
    problem(post(reader, path, {"attributes": []}), 400)
    assert "found gender" in problem(post(reader, path, {"attributes": ["gender"]}), 409)["detail"]
    assert "Only an IRB officer" in problem(post(logged_in(study.owner), path, {"attributes": ["devices"]}), 409)["detail"]
    assert post(reader, path, {"attributes": ["devices"]}).status_code == 202
    assert "No release" in problem(post(reader, path, {"attributes": ["devices"]}), 409)["detail"]


def test_a_program_does_the_same(study: Study) -> None:
    path, client = f"studies/{study.slug}/records/", logged_in(study.owner)
    shown = get(study.owner, path)
    assert (shown["sweep"], shown["verdict"]) == (None, None)
    assert {one["name"]: one["role"] for one in shown["attributes"]}["courses.grade"] == "sensitive"
    tried = post(client, path, {"whose": "people"})
    assert (tried.status_code, tried.json()["sweep"]["status"]) == (202, "running")
    assert post(client, f"{path}stop/", {}).json()["sweep"]["status"] == "stopped"
    wanted = {"title": "Data", "authors": ["Lovelace, Ada"], "questions": list(CHOICES.questions)}
    assert "Class size: expected" in problem(post(client, f"{path}build/", {**wanted, "k": 5, "class_size": 4}), 409)["detail"]
    problem(post(client, f"{path}build/", {**wanted, "k": 1}), 400)
    built = post(client, f"{path}build/", {**wanted, "k": 6, "diversity": {"courses.grade": 0}})
    assert (built.status_code, built.json()["verdict"]["holds"]) == (202, None)
    work_on(Release.objects.get())
    verdict = get(study.owner, path)["verdict"]
    assert (verdict["holds"], verdict["status"]) == (True, "built")
    assert verdict["records"]["risks"]["smallest_class"] >= 6
