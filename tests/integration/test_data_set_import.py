"""Programs bring data sets as the page does: with a role for each column, and nothing half imported."""

import io
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django.live_server_helper import LiveServer

from accounts.models import Role, TokenScope
from accounts.services import issue_token
from analysis.data_sets.retention import usual_day
from analysis.models import DataSet, Snapshot
from analysis.sources.selectors import table_of
from audit.models import Entry
from config.body_sizes import TABLES, most_at
from tests.data_sets import ITEMS, TOPICS, quiz_file, texts_file
from tests.factories import everything_stored, logged_in, person
from tests.processes import ROOT

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/data-sets/"
COLUMNS = [
    {"name": "id", "role": "student"},
    *({"name": name, "role": "item"} for name in ITEMS),
    {"name": "major", "role": "category", "values": ["law", "art"]},
    {"name": "grade", "role": "number", "minimum": 0, "maximum": 4},
]
DECLARED = {"title": "Marks of a course", "about": "From elsewhere.", "table": {"columns": COLUMNS}}
ROLES = {"student": "student", "week": "week", "text": "text"}
OF_TEXTS = {"names": ["student", "week", "text"], "roles": ROLES, "topics": TOPICS, "weeks": 2, "cap": 1, "language": "en"}


def send(browser: Client, declared: Any, file: str = "") -> Any:
    text = declared if isinstance(declared, str) else json.dumps(declared)
    return browser.post(ADDRESS, {"declaration": text, "file": SimpleUploadedFile("data.csv", (file or quiz_file()).encode())})


def test_a_table_comes_in_with_its_roles_and_without_its_keys() -> None:
    owner = person(Role.INVESTIGATOR)
    token = issue_token(user=owner, name="w", scope=TokenScope.WRITE, days=1)
    made = send(Client(headers={"Authorization": f"Bearer {token}"}), DECLARED, quiz_file(key="zq7marked-{}"))
    assert made.status_code == 201, made.content
    told = made.json()
    assert (told["status"], told["students"], told["epsilon"], told["owner"]) == ("draft", 60, None, owner.username)
    assert (told["delete_on"], len(told["columns"])) == (usual_day().isoformat(), 5)
    table = table_of(DataSet.objects.get().source, 1)
    assert table is not None
    assert (int(np.sum(table.right_answers("quiz.q1") == 1)), np.nansum(table["background.grade"])) == (30, 120)
    assert "zq7marked" not in repr(everything_stored())
    assert Entry.objects.filter(action="data_set.brought", actor=owner).count() == 1
    part = SimpleUploadedFile("declaration.json", json.dumps(DECLARED).encode(), content_type="application/json")
    again = logged_in(owner).post(ADDRESS, {"declaration": part, "file": io.BytesIO(quiz_file().encode())})
    assert (again.status_code, again.json()["slug"]) == (201, "marks-of-a-course-2"), "a part with a type of its own"


def test_texts_become_topics() -> None:
    made = send(logged_in(person(Role.INVESTIGATOR)), {"title": "Diaries", "about": "Ours.", "texts": OF_TEXTS}, texts_file())
    assert made.status_code == 201, made.content
    assert (made.json()["topics_a_week"], [one["name"] for one in made.json()["columns"]]) == (1, ["topic.recursion", "topic.exam"])


def changed(place: int, **change: Any) -> Any:
    return {**DECLARED, "table": {"columns": [{**one, **change} if at == place else one for at, one in enumerate(COLUMNS)]}}


@pytest.mark.parametrize(
    ("declared", "file", "said"),
    [
        ("{", "", "JSON parse error"),
        ("[1]", "", "Expected an object, found a list of 1."),
        ({**DECLARED, "title": ""}, "", "characters, found nothing."),
        ({**DECLARED, "delete_on": "2020-01-01"}, "", "Write a day after today"),
        ({**DECLARED, "texts": OF_TEXTS}, "", "Expected either a table or texts."),
        ({name: value for name, value in DECLARED.items() if name != "table"}, "", "Expected either a table or texts."),
        (changed(0, role="left_out"), "", "Expected one column with keys of students, found 0."),
        (changed(1, role="key"), "", "found 'key'."),
        (changed(1, name="q2"), "", "names the column “q2” twice"),
        (changed(1, name="=A1"), "", "expected a name, found a formula"),
        (changed(4, values=["law", "law"]), "", "The values of “major” must differ."),
        (changed(4, values=[]), "", "Write the values of “major”"),
        (changed(5, minimum=4), "", "the least and the largest value of “grade”"),
        (changed(5, several=True), "", "Write how many rows of a student count"),
        ({**DECLARED, "table": {"columns": COLUMNS[:2]}}, "", "Expected a quiz of 2 to 200 questions, found 1."),
        ({**DECLARED, "texts": {**OF_TEXTS, "language": "de"}}, "", "Affect is read by an English lexicon"),
        ({**DECLARED, "texts": {**OF_TEXTS, "weeks": 61}}, "", "Expected a whole number, from 1 to 60, found 61."),
        ({**DECLARED, "texts": {**OF_TEXTS, "topics": {"": ["a"]}}}, "", "Write each line as a topic"),
        ({**DECLARED, "texts": {**OF_TEXTS, "roles": {**ROLES, "text": "diary"}}}, "", "Expected columns of the file, found diary."),
        ({**DECLARED, "texts": {**OF_TEXTS, "roles": {**ROLES, "text": "week"}}}, "", "Each role needs a column of its own."),
        (DECLARED, quiz_file(19), "expected at least 20 students, found 19"),
        (DECLARED, quiz_file() + "x,2,1,1,law,2\n", "line 62, column “q1”: expected 0, 1 or nothing, found “2”"),
    ],
    ids=lambda value: value if isinstance(value, str) and "\n" not in value else None,
)
def test_bad_input_is_refused_in_words_and_nothing_is_half_imported(declared: Any, file: str, said: str) -> None:
    refused = send(logged_in(person(Role.INVESTIGATOR)), declared, file)
    assert refused.status_code in (400, 422), refused.content
    assert said in json.dumps(refused.json(), ensure_ascii=False)
    assert not DataSet.objects.exists()
    assert not Snapshot.objects.exists()


def test_a_part_that_is_missing_is_named() -> None:
    browser = logged_in(person(Role.INVESTIGATOR))
    assert "Choose the file." in browser.post(ADDRESS, {"declaration": "{}"}).content.decode()
    assert "Expected a declaration" in browser.post(ADDRESS, {"file": io.BytesIO(b"a")}).content.decode()
    assert browser.post(ADDRESS, DECLARED, content_type="application/json").status_code == 415


def test_only_people_who_bring_data_on_the_page_bring_it_by_program_and_as_much() -> None:
    for role in (Role.ANALYST, Role.IRB_OFFICER):
        assert send(logged_in(person(role)), DECLARED).status_code == 403
    owner = person(Role.INVESTIGATOR)
    for scope in (TokenScope.READ, TokenScope.ANALYTICS_READ, TokenScope.ANALYTICS_SPEND):
        token = issue_token(user=owner, name=scope, scope=scope, days=1)
        assert send(Client(headers={"Authorization": f"Bearer {token}"}), DECLARED).status_code == 403
    assert most_at(ADDRESS) == most_at(reverse("analysis:bring_data")) == TABLES


@pytest.mark.django_db(transaction=True)
def test_the_command_of_the_guide_works_word_for_word(live_server: LiveServer, tmp_path: Path) -> None:
    """It is run as it stands, but for the address of the server. curl ends a part of a form at a semicolon, which the description has."""
    owner = person(Role.INVESTIGATOR)
    token = issue_token(user=owner, name="w", scope=TokenScope.WRITE, days=1)
    students = "".join(f"s{number},{number % 2},1,{('law', 'art')[number % 2]},{number % 4}\n" for number in range(30))
    (tmp_path / "marks.csv").write_text("id,q1,q2,major,grade\n" + students)
    (command,) = re.findall(r"```sh\n(curl .*?)```", (ROOT / "docs/analytics.md").read_text(), re.DOTALL)
    command = command.replace("https://candor.example", live_server.url).replace("2027-10-01", usual_day().isoformat())
    told = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=os.environ | {"TOKEN": token}, capture_output=True, text=True, check=True
    )
    made = json.loads(told.stdout)
    assert (made["title"], made["about"]) == ("Marks of a course", "From another university; the students agreed.")
    assert (made["status"], made["students"], made["owner"]) == ("draft", 30, owner.username)
