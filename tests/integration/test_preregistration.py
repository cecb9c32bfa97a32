"""The analysis plan is kept at the approval, shown with its hash, released, verified, and compared with what was done."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from analysis import services as analysis
from analysis.models import Run, RunKind, RunStatus
from analysis.preregistration.report import report_of
from analysis.preregistration.selectors import report_on
from analysis.runs import runner
from analysis.stored_results import read_results
from audit.models import Entry
from candor.packages.archive import PUBLIC_KEY, SIGNATURE, SUMS, files_in, signed, zip_of
from candor.packages.signing import private_key
from surveys.allocation.services import draw_allocation_list
from surveys.models import Preregistration, Study, StudyStatus
from surveys.preregistration.selectors import plans_of
from surveys.preregistration.words import shown_plan
from surveys.protocols import protocol_in_force
from surveys.review import services as reviews
from surveys.studies import services as studies
from tests.api_requests import get
from tests.factories import QUESTIONS, definition, document, logged_in, page_of, person, recruiting_study, study_in
from tests.finished_people import TELLING_DIE, add_finished_people, compute
from tests.jobs import Sent, catch, work_off
from tests.releases import built_release, closed_study, package_of
from tests.unit.candor.cli.running import candor as command

pytestmark = pytest.mark.django_db
PLANNED_TESTS = {
    "families": {"main": ["attention", "retention"]},
    "margins": {"attention": {"kind": "equivalence", "points": 20}},
}


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    return catch(monkeypatch)


def opened(client: Client, name: str, *arguments: Any) -> str:
    answer = client.get(reverse(name, args=arguments))
    assert answer.status_code == 200, (name, answer.status_code)
    return answer.content.decode()


def test_the_plan_is_kept_with_the_approval_and_stands_in_the_log() -> None:
    study = study_in(StudyStatus.IN_REVIEW)
    assert plans_of(study) == []
    study = reviews.approve(study, actor=person(Role.IRB_OFFICER))
    (plan,) = plans_of(study)
    assert plan.sha256 == hashlib.sha256(plan.text.encode()).hexdigest()
    entry = Entry.objects.get(action="study.preregistered")
    assert entry.details == {"version": 1, "sha256": plan.sha256}
    found = plan.document
    assert found["protocol"] == {"version": 1, "sha256": study.protocol.sha256 if study.protocol else ""}
    assert [(one["question"], one["treatment"], one["control"]) for one in found["hypotheses"]] == [
        (name, "instructor", "slides") for name in QUESTIONS
    ]
    assert found["analysis"]["primary_method"] == "efficient"
    assert "difference_in_means" in found["analysis"]["further_methods"]
    assert found["analysis"]["covariates"] == [one["name"] for one in document()["background"]]
    assert found["sample"]["planned_participants"] == 48
    assert "as soon as 48 participants have answered with the die" in found["stopping_rule"]


def test_the_plan_of_a_study_in_sections_names_the_one_analysis_that_is_made_of_them() -> None:
    """Neither a look before the end, nor methods that take people of one section for independent."""
    in_eight = {"planned_participants": 480, "unit": "cluster", "sections": 8, "block_multiples": [1]}
    study = recruiting_study(allocation=in_eight, die=TELLING_DIE)
    (plan,) = plans_of(study)
    assert plan.document["analysis"]["primary_method"] == "efficient_clustered"
    assert plan.document["analysis"]["further_methods"] == plan.document["analysis"]["covariates"] == []
    assert plan.document["sample"]["sections"] == 8
    assert plan.document["stopping_rule"] == "All results are computed once: when the study has ended. Nothing is shown before."
    page = opened(logged_in(study.owner), "surveys:protocol_preregistration", study.slug)
    assert "efficient, sections assigned as a whole" in page
    assert "Shown beside it</dt><dd>none" in page
    assert "Sections assigned as a whole</dt><dd>8" in page
    add_finished_people(study, 400, seed=3)
    study = studies.close(study, actor=study.owner)
    compute(study)
    report = report_on(study)
    assert report is not None
    assert [one.verdict for one in report.analyses][1:] == ["as_planned"] * len(QUESTIONS)
    assert report.exploratory == ()


def test_the_planned_number_of_a_study_with_a_direct_group_is_of_those_who_answer_with_the_die() -> None:
    direct = {"share": 0.25, "consent": "You may be asked without a die."}
    study = study_in(StudyStatus.APPROVED, allocation={"planned_participants": 400}, direct_group=direct)
    (plan,) = plans_of(study)
    assert "300 participants have answered with the die" in plan.document["stopping_rule"]


def test_the_overview_of_a_study_leads_to_its_plan_once_there_is_one() -> None:
    study = study_in(StudyStatus.IN_REVIEW)
    link = f'href="{reverse("surveys:protocol_preregistration", args=[study.slug])}"'
    assert link not in opened(logged_in(study.owner), "surveys:study", study.slug)
    reviews.approve(study, actor=person(Role.IRB_OFFICER))
    assert link in opened(logged_in(study.owner), "surveys:study", study.slug)


def test_margins_families_and_strata_stand_in_the_plan_and_on_its_page_in_words() -> None:
    study = study_in(StudyStatus.IN_REVIEW, analysis=PLANNED_TESTS, allocation={"planned_participants": 400, "strata": ["gender"]})
    study = reviews.approve(study, actor=person(Role.IRB_OFFICER))
    (plan,) = plans_of(study)
    assert plan.document["analysis"]["families"] == PLANNED_TESTS["families"]
    assert plan.document["analysis"]["margins"]["attention"] == {"kind": "equivalence", "points": 20.0, "worse": None}
    assert plan.document["sample"]["strata"] == ["gender"]
    for page in (
        opened(logged_in(study.owner), "surveys:protocol_preregistration", study.slug),
        opened(logged_in(study.owner), "surveys:protocol_preregistration_file", study.slug, 1, "html").split("<pre>")[0],
    ):
        assert "Every group differs from the control by less than 20 percentage points (equivalence)." in page
        assert "Family “main”" in page
        assert "Assigned within strata of</dt><dd>gender" in page
        assert "difference in means; doubly robust, with background answers" in page
        assert "difference_in_means" not in page


def test_a_plan_of_the_first_format_is_still_read() -> None:
    study = study_in(StudyStatus.APPROVED)
    (plan,) = plans_of(study)
    document = plan.document
    for later in ("families", "margins"):
        del document["analysis"][later]
    del document["sample"]["strata"]
    older = {**document, "format": 1, "analysis": {**document["analysis"], "family": "study", "family_in_words": "all questions"}}
    kept = replace(plan, text=json.dumps(older))
    ((term, words),) = shown_plan(kept)["planned_tests"]
    assert term == "Family “study”"
    assert words.count("“") == len(QUESTIONS)
    report = report_of([kept], None)
    assert report is not None
    assert [one.verdict for one in report.analyses if "Family" in one.planned] == ["not_done"]


def test_the_database_refuses_to_change_or_delete_a_plan() -> None:
    study = study_in(StudyStatus.APPROVED)
    kept = Preregistration.objects.filter(protocol__study=study)
    for change in (lambda: kept.update(sha256="0" * 64), lambda: kept.delete()):
        with pytest.raises(DatabaseError, match="neither changed nor deleted"), transaction.atomic():
            change()
    assert len(plans_of(study)) == 1


def test_everybody_who_may_see_the_protocol_reads_and_downloads_it() -> None:
    study = study_in(StudyStatus.APPROVED)
    (plan,) = plans_of(study)
    officer = logged_in(person(Role.IRB_OFFICER))
    page = opened(officer, "surveys:protocol_preregistration", study.slug)
    assert plan.sha256 in page
    assert page.count("differs between") == len(QUESTIONS)
    text = opened(officer, "surveys:protocol_preregistration_file", study.slug, 1, "json")
    assert hashlib.sha256(text.encode()).hexdigest() == plan.sha256
    html = opened(officer, "surveys:protocol_preregistration_file", study.slug, 1, "html")
    assert plan.sha256 in html
    assert "<script" not in html
    assert plan.sha256 in opened(officer, "surveys:protocol", study.slug)
    assert plan.sha256 in opened(Client(), "surveys:transparency", study.slug)
    (api,) = logged_in(study.owner).get(reverse("surveys:api_preregistration", args=[study.slug])).json()
    assert (api["sha256"], api["text"]) == (plan.sha256, plan.text)
    missing = officer.get(reverse("surveys:protocol_preregistration_file", args=[study.slug, 2, "json"]))
    other = officer.get(reverse("surveys:protocol_preregistration_file", args=[study.slug, 1, "exe"]))
    assert (missing.status_code, other.status_code) == (404, 404)


def test_before_an_approval_the_page_says_that_nothing_is_kept() -> None:
    study = study_in(StudyStatus.DRAFT)
    assert "Nothing is preregistered yet" in opened(logged_in(study.owner), "surveys:protocol_preregistration", study.slug)


def amended(study: Study) -> Study:
    """An amendment to the plan in words, submitted and approved."""
    changed = definition(analysis_plan={"en": "We look at another thing.", "de": "Wir sehen etwas anderes an."})
    study = studies.change_definition(study, definition=changed, actor=study.owner)
    study = studies.submit_for_review(study, actor=study.owner)
    return reviews.approve(study, actor=person(Role.IRB_OFFICER))


def test_a_renewal_keeps_the_plan_and_an_amendment_adds_one() -> None:
    study = recruiting_study()
    (first,) = plans_of(study)
    study = amended(study)
    one, two = plans_of(study)
    assert one == first
    assert (two.version, two.document["analysis"]["in_words"]) == (2, "We look at another thing.")
    page = opened(logged_in(study.owner), "surveys:protocol_preregistration", study.slug)
    assert first.sha256 in page
    assert two.sha256 not in page
    assert "What changed since the preregistration" in page


def test_the_release_brings_the_plan_and_verify_checks_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    study = closed_study()
    (plan,) = plans_of(study)
    package = package_of(built_release(study))
    files = files_in(package)
    assert files["preregistration-1.json"].decode() == plan.text
    assert json.loads(files["protocol.json"])["preregistrations"][0]["sha256"] == plan.sha256
    Path("package.zip").write_bytes(package)
    done = command("verify", "package.zip")
    assert (done.exit_code, plan.sha256 in done.stdout) == (0, True)
    # Another plan, signed anew with everything else: every signature is right, and the plan is not the one that was published.
    kept = {name: content for name, content in files.items() if name not in (SUMS, SIGNATURE, PUBLIC_KEY)}
    forged = kept | {"preregistration-1.json": kept["preregistration-1.json"].replace(b'"level": 0.95', b'"level": 0.90')}
    assert forged != kept
    Path("forged.zip").write_bytes(zip_of(signed(forged, private_key("a secret for tests"))))
    done = command("verify", "forged.zip")
    assert done.exit_code == 1
    assert "is not in preregistration-1.json" in done.stdout
    (said,) = json.loads(command("verify", "forged.zip", "--format", "json").stdout)["preregistrations"]
    assert said["genuine"] is False


def test_the_report_at_the_end_sets_planned_beside_done() -> None:
    study = closed_study()
    owner = logged_in(study.owner)
    analysis.request_full_results(study, actor=study.owner)
    work_off(Run.objects.get(study=study, kind=RunKind.FULL_RESULTS, status=RunStatus.QUEUED))
    page = page_of(owner.get(reverse("analysis:results_preregistration", args=[study.slug])))
    rows = [" ".join(row.text_content().split()) for row in page.xpath("//tbody/tr")]
    assert len(rows) == 1 + len(QUESTIONS)
    assert all("as planned" in row for row in rows[1:]), rows
    assert "None." in page.text_content()
    api = owner.get(reverse("analysis:api_preregistration_report", args=[study.slug])).json()["report"]
    assert [one["verdict"] for one in api["analyses"]][1:] == ["as_planned"] * len(QUESTIONS)
    assert "Planned and done" in opened(owner, "analysis:results", study.slug)


@pytest.mark.parametrize(
    ("registered", "verdicts"),
    [
        (PLANNED_TESTS, ["as_planned", "as_planned"]),
        ({**PLANNED_TESTS, "margins": {"attention": {"kind": "equivalence", "points": 10}}}, ["otherwise", "as_planned"]),
        ({**PLANNED_TESTS, "families": {"main": ["attention", "judgement"]}}, ["as_planned", "otherwise"]),
        ({"margins": {"retention": {"kind": "equivalence", "points": 20}}, "families": {"other": ["attention"]}}, ["not_done"] * 2),
    ],
)
def test_the_report_sets_margins_and_families_beside_the_tests_that_were_made(registered: dict[str, Any], verdicts: list[str]) -> None:
    study = closed_study(analysis=PLANNED_TESTS)
    compute(study, RunKind.FIRST_RESULTS)
    (plan,) = plans_of(study)
    changed = plan.document | {"analysis": plan.document["analysis"] | registered}
    results = Run.objects.filter(study=study, kind=RunKind.FIRST_RESULTS, status=RunStatus.DONE).latest("pk").results
    report = report_of([replace(plan, text=json.dumps(changed))], read_results(results))
    assert report is not None
    found = [one for one in report.analyses if one.planned.startswith(("To be shown", "Family"))]
    assert [one.verdict for one in found] == verdicts
    assert [bool(one.differences) for one in found] == [one == "otherwise" for one in verdicts]


def test_the_report_has_the_numbers_of_the_one_look_that_was_planned() -> None:
    """More people came than were planned. Their intervals would be of a moment that somebody chose after a look."""
    study = recruiting_study(allocation={"planned_participants": 96, "block_multiples": [1]}, die=TELLING_DIE)
    add_finished_people(study, 96)
    compute(study)
    draw_allocation_list(study, protocol_in_force(study).definition)
    add_finished_people(study, 48, seed=2)
    compute(study)
    path = f"studies/{study.slug}"
    planned = get(study.owner, f"{path}/results/")["planned_analysis"]
    assert planned["n"] == 96
    study = studies.close(study, actor=study.owner)
    compute(study)
    sample, *others = get(study.owner, f"{path}/results/preregistration/")["report"]["analyses"]
    assert sample["verdict"] == "as_planned"
    effects = {one["question"]: one["effects"][0] for one in planned["outcomes"]}
    assert [one["value"] for one in others] == [effects[name]["value"] for name in QUESTIONS]
    shown = opened(logged_in(study.owner), "analysis:results_preregistration", study.slug)
    for name in QUESTIONS:
        interval = effects[name]["interval"]
        assert f"({interval['low']:z.3f}; {interval['high']:z.3f})".replace("-", "−") in shown
    assert "144 people" not in shown


def with_effect(study: Study) -> int:
    """How many lines of the report have a number."""
    report = report_on(study)
    assert report is not None
    return sum(one.effect is not None for one in report.analyses)


def test_while_the_last_results_are_computed_the_report_shows_no_look_of_before() -> None:
    study = recruiting_study(allocation={"planned_participants": 192, "block_multiples": [1]}, die=TELLING_DIE)
    add_finished_people(study, 96)
    study = studies.close(study, actor=study.owner)
    compute(study)
    assert with_effect(study) == len(QUESTIONS)
    for kind in RunKind:
        Run.objects.create(study=study, kind=kind)
    assert with_effect(study) == 0


def test_while_the_study_runs_there_is_no_report() -> None:
    study = recruiting_study()
    assert "When the study is closed" in opened(logged_in(study.owner), "analysis:results_preregistration", study.slug)
    api = logged_in(study.owner).get(reverse("analysis:api_preregistration_report", args=[study.slug])).json()
    assert api == {"report": None}


def test_the_report_on_fewer_than_ten_people_has_no_result() -> None:
    """Its numbers would be about persons: the results page shows none either."""
    study = closed_study(people=8)
    run = runner.queue_run(study.pk)
    assert run is not None
    work_off(run)
    assert Run.objects.filter(study=study, status=RunStatus.DONE, n__gt=0).exists(), "there is something to hide"
    assert report_on(study) == report_of(plans_of(study), None)
