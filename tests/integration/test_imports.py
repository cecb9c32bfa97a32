"""Files of other programs on the builder's page and over the API: a report first, then the questions, and everything or nothing."""

import csv
import io
import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from audit.models import Entry
from config.body_sizes import IMPORTS, most_at
from surveys.imports.files import LARGEST
from surveys.models import Study, StudyStatus
from surveys.revisions.selectors import steps_of
from tests.factories import draft_study, hidden_value, logged_in, page_of, study_in
from tests.import_files import FILES, attributes_in
from tests.integration.test_builder import address, definition_of

pytestmark = pytest.mark.django_db
CONTENT = {path.name: path.read_bytes() for path in FILES}


@pytest.fixture
def study() -> Study:
    """The sample, in English and German."""
    return draft_study()


def uploaded(browser: Client, study: Study, name: str, content: bytes | None = None) -> HttpResponse:
    file = SimpleUploadedFile(name, CONTENT[name] if content is None else content)
    return browser.post(address("build_import", study), {"file": file})


def sent(browser: Client, study: Study, report: HttpResponse, do: str, **choices: Any) -> HttpResponse:
    return browser.post(address("build_import", study), {"proposal": hidden_value(report, "proposal"), "do": do, **choices})


def number_of(report: HttpResponse, name: str) -> int:
    (found,) = [one["offer"].number for one in report.context["offers"] if one["offer"].name == name]
    return int(found)


@pytest.mark.parametrize("name", CONTENT)
def test_a_file_shows_its_report_and_comes_in_as_one_change_that_can_be_undone(browser: Client, study: Study, name: str) -> None:
    before, entries = definition_of(study), Entry.objects.count()
    report = uploaded(browser, study, name)
    assert report.status_code == 200
    assert report.context["total"] == attributes_in(CONTENT[name]) == sum(report.context["counts"].values())
    assert (definition_of(study), Entry.objects.count()) == (before, entries), "nothing is stored before somebody says so"
    die = number_of(report, "paid")
    assert sent(browser, study, report, "accept", die=die).status_code == 302
    after = definition_of(study)
    assert len(after.background) == len(before.background) + report.context["adding"] - 1
    assert [question.name for question in after.questions] == [*(question.name for question in before.questions), "paid"]
    assert Entry.objects.count() == entries + 1
    change = steps_of(Study.objects.get(pk=study.pk), study.owner).undo
    assert change is not None
    assert browser.post(address("build_history", study), {"undo": change.number}).status_code == 302
    assert definition_of(study) == before


def test_choices_change_the_report_and_not_the_sum(browser: Client, study: Study) -> None:
    report = uploaded(browser, study, "canteen.redcap.csv")
    total, counts = report.context["total"], report.context["counts"]
    diet, paid = number_of(report, "diet"), number_of(report, "paid")
    again = sent(browser, study, report, "look", die=paid, leave=diet)
    assert again.context["total"] == total
    assert again.context["counts"]["lost"] > counts["lost"]
    text = page_of(again).text_content()
    assert "It is asked with the die." in text
    assert "It hung on a question that is not asked openly; now it is always shown." in text, "the matrix hung on the diet"
    written = sent(browser, study, again, "report", die=paid, leave=diet)
    rows = list(csv.DictReader(io.StringIO(written.content.decode())))
    assert sum(int(row["attributes"]) for row in rows) == total
    assert {row["outcome"] for row in rows if row["question"] == "diet"} == {"lost"}
    assert not any(row["value"].startswith(("=", "@", "+")) for row in rows), "no cell is a formula"
    assert sent(browser, study, again, "accept", die=paid, leave=diet).status_code == 302
    names = [question.name for question in definition_of(study).background]
    assert "diet" not in names
    assert "paid" not in names


def test_more_answers_than_yes_and_no_get_faces_of_the_study_s_die(browser: Client, study: Study) -> None:
    report = uploaded(browser, study, "canteen.surveyjs.json")
    sent(browser, study, report, "accept", die=[number_of(report, "diet"), number_of(report, "paid")])
    diet, paid = definition_of(study).questions[-2:]
    assert diet.answers == ("all", "no_meat", "plants")
    assert set(diet.faces) == set(definition_of(study).die.subsamples)
    assert (paid.yes.in_language("en"), paid.no.in_language("en")) == ("Yes, I did", "No, never")


def test_importing_twice_adds_nothing_twice(browser: Client, study: Study) -> None:
    sent(browser, study, uploaded(browser, study, "canteen.qsf"), "accept")
    once = definition_of(study)
    again = uploaded(browser, study, "canteen.qsf")
    assert again.context["adding"] == 0
    assert again.context["total"] == attributes_in(CONTENT["canteen.qsf"])
    sent(browser, study, again, "accept")
    assert definition_of(study) == once


def test_somebody_else_s_question_in_between_is_not_lost(browser: Client, study: Study) -> None:
    report = uploaded(browser, study, "canteen.redcap.csv")
    sent(browser, study, uploaded(browser, study, "canteen.questions.csv"), "accept", leave=[0, 1, 2, 3, 4, 5, 6])
    between = definition_of(study)
    assert sent(browser, study, report, "accept").status_code == 302
    assert definition_of(study).background[: len(between.background)] == between.background


def test_a_report_of_another_study_or_person_or_a_changed_one_is_refused(browser: Client, study: Study) -> None:
    report = uploaded(browser, study, "canteen.redcap.csv")
    waiting = hidden_value(report, "proposal")
    other = draft_study(owner=study.owner, slug="another")
    assert browser.post(address("build_import", other), {"proposal": waiting, "do": "accept"}).status_code == 422
    assert browser.post(address("build_import", study), {"proposal": f"a{waiting}", "do": "accept"}).status_code == 422
    assert browser.post(address("build_import", study), {}).status_code == 422


def test_a_frozen_study_takes_no_questions_and_gives_its_own() -> None:
    study = study_in(StudyStatus.IN_REVIEW)
    browser = logged_in(study.owner)
    assert uploaded(browser, study, "canteen.redcap.csv").status_code == 409
    for program in ("redcap", "qualtrics"):
        page = browser.get(address("build_export", study, program))
        assert "What does not come through" in page.content.decode()
        assert "attachment" in browser.get(address("build_export_file", study, program))["Content-Disposition"]
    assert browser.get(address("build_export", study, "spss")).status_code == 404


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a,b\n1,2\n", "with the columns a, b"),
        (b'{"SurveyElements": [', "not readable as JSON"),
        (b"<!DOCTYPE a [<!ENTITY b 'c'>]><document><questions>&b;</questions></document>", "DOCTYPE"),
        (b"text\nWhy\0?\n", "zero byte"),
        (b"", "expected"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(browser: Client, study: Study, content: bytes, expected: str) -> None:
    response = uploaded(browser, study, "file.csv", content)
    assert response.status_code == 422
    assert expected in page_of(response).text_content()


def test_a_survey_of_20_megabytes_with_flow_and_loops_is_read_and_reported(browser: Client, study: Study) -> None:
    survey = json.loads(CONTENT["canteen.qsf"])
    flow = next(one["Payload"]["Flow"] for one in survey["SurveyElements"] if one["Element"] == "FL")
    branch = next(step for step in flow if step["Type"] == "Branch")
    flow += [{**branch, "FlowID": f"FL_{number}", "Description": "x" * 500} for number in range(15_000)]
    survey["SurveyElements"][-1]["Payload"]["QuestionJS"] = "y" * (20 * 1024**2 - len(json.dumps(survey)))
    content = json.dumps(survey).encode()
    assert 19 * 1024**2 < len(content) <= LARGEST < IMPORTS
    report = uploaded(browser, study, "large.qsf", content)
    assert report.status_code == 200, page_of(report).text_content()
    assert report.context["total"] == attributes_in(content)
    assert "A branch of the flow cannot be kept" in page_of(report).text_content()
    assert sent(browser, study, report, "accept").status_code == 302


def test_the_api_reports_first_and_adds_when_it_is_told_to(browser: Client, study: Study) -> None:
    path, before = reverse("surveys:api_imports", args=[study.slug]), definition_of(study)
    assert most_at(path) == IMPORTS

    def send(**wanted: Any) -> Any:
        return browser.post(
            path, {"file": SimpleUploadedFile("canteen.lss", CONTENT["canteen.lss"]), **wanted}, headers={"accept": "application/json"}
        )

    report = send().json()
    assert sum(report["counts"].values()) == attributes_in(CONTENT["canteen.lss"]) == sum(line["count"] for line in report["lines"])
    assert (report["added"], definition_of(study)) == (0, before)
    numbers = {offer["name"]: offer["number"] for offer in report["offers"]}
    wanted = {"dry_run": "false", "with_die": numbers["paid"], "left_out": [numbers["diet"], numbers["taste"]]}
    added = send(**wanted).json()
    assert added["added"] == 6
    assert {offer["name"] for offer in added["offers"] if offer["taken_as"] == "left_out"} == {"diet", "taste", "story"}
    assert definition_of(study).questions[-1].name == "paid"
    assert send(with_die="x").status_code == 400
    assert browser.post(path, {"file": SimpleUploadedFile("x.lss", b"<a>")}).status_code == 400
    exported = browser.get(reverse("surveys:api_export", args=[study.slug, "redcap"])).json()
    assert "colour" in exported["file"]
    assert "paid" in {one["question"] for one in exported["lost"]}
