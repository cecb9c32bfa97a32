"""Data sets: brought with a role for each column, approved with a budget, asked like a study, and nothing of a student left behind."""

import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse

from accounts.models import Role, TokenScope
from accounts.services import change_role, issue_token
from analysis.data_sets import services
from analysis.data_sets.errors import DataSetError
from analysis.data_sets.retention import usual_day
from analysis.ledger.selectors import asked_before
from analysis.models import Asking, Charge, DataSet, DataSetAnalyst, Snapshot, Source
from analysis.sources.selectors import table_of
from audit.models import Entry
from tests.data_sets import BUDGET, TABLE, TEXTS, TYPED_TABLE, TYPED_TEXTS, approved, bring, data_set, named, quiz_file, texts_file
from tests.factories import heading, logged_in, page_of, person
from tests.jobs import work_on
from tests.ledgers import budget_of
from tests.simultaneous import at_once

pytestmark = pytest.mark.django_db
MARK = "zq7marked"
COUNT = {"kind": "count", "where": [{"column": "background.major", "in": ["art"]}], "epsilon": 0.1}


def without_files(value: object) -> str | None:
    """A short name for a case; pytest would put the whole file into it."""
    return "file" if isinstance(value, bytes) or (isinstance(value, str) and "\n" in value) else None


def words(response: Any) -> str:
    return " ".join(" ".join(page_of(response).itertext()).split())


def page(source_or_set: Source | DataSet, name: str = "data_set") -> str:
    found = source_or_set.whole if isinstance(source_or_set, Source) else source_or_set
    return reverse(f"analysis:{name}", args=[found.slug])


def everything_stored() -> str:
    """All rows of all tables, and the unpacked columns of every snapshot."""
    found = [repr(row) for model in apps.get_models() for row in model._default_manager.values()]
    for snapshot in Snapshot.objects.filter(data__isnull=False):
        table = table_of(snapshot.source, snapshot.number)
        assert table is not None
        found += [repr(table[column.name].tobytes()) for column in table.schema.columns]
    return "\n".join(found)


def test_a_table_comes_in_with_a_role_for_each_column_and_leaves_its_keys_behind() -> None:
    owner = person(Role.INVESTIGATOR)
    browser = logged_in(owner)
    shown = browser.post(reverse("analysis:bring_data"), {**TYPED_TABLE, "action": "columns"})
    assert (shown.status_code, len(page_of(shown).xpath("//fieldset[@class='declared-column']"))) == (200, 6)
    assert not page_of(shown).xpath("//select[@name='role-1']/option[@selected][@value!='']"), "no role is guessed"
    assert bring(browser, TYPED_TABLE, quiz_file(key=f"{MARK}-{{}}")).status_code == 302
    made = DataSet.objects.get()
    table = table_of(made.source, 1)
    assert table is not None
    assert [column.name for column in table.schema.columns] == ["quiz.q1", "quiz.q2", "quiz.q3", "background.major", "background.grade"]
    assert (table.n, int(np.sum(table.right_answers("quiz.q1") == 1)), np.nansum(table["background.grade"])) == (60, 30, 120)
    assert int(np.sum(table["quiz.q3"] == -1)) == 9
    assert MARK not in everything_stored()
    assert Entry.objects.filter(action="data_set.brought", actor=owner).count() == 1


def test_a_form_that_comes_back_asks_for_what_it_lacks_and_says_that_the_file_is_gone() -> None:
    browser, gone = logged_in(person(Role.INVESTIGATOR)), "cannot keep files"
    for form in ("analysis:bring_data", "analysis:bring_records"):
        empty = browser.post(reverse(form), {"action": "columns"})
        (link,) = page_of(empty).xpath("//*[@class='error-summary']//a")
        found = (empty.status_code, link.get("href"), link.text_content(), gone in words(empty))
        assert found == (422, "#header", "Choose a file, or paste its first line.", False)
    refused = bring(browser, {**TYPED_TABLE, "title": ""}, quiz_file())
    assert gone in words(refused)
    assert page_of(refused).xpath("//input[@id='file']/@aria-describedby") == ["file-hint "]


def test_texts_become_topics_and_nothing_of_them_stays(tmp_path: Path, settings: Any, caplog: pytest.LogCaptureFixture) -> None:
    settings.FILE_UPLOAD_TEMP_DIR, settings.FILE_UPLOAD_MAX_MEMORY_SIZE = str(tmp_path), 100
    file = texts_file(key=f"{MARK}-{{}}", text=f"I love recursion, said {MARK}! The recursion is great.")
    made = bring(logged_in(person(Role.INVESTIGATOR)), TYPED_TEXTS, file)
    assert made.status_code == 302
    table = table_of(DataSet.objects.get().source, 1)
    assert table is not None
    assert [np.sum(table["topic.recursion"] == code, axis=0).tolist() for code in (0, 1, 2)] == [[20, 20], [0, 0], [0, 0]]
    assert int(np.sum(table["topic.exam"] >= 0)) == 0, "a cap of one topic a week"
    assert MARK not in everything_stored()
    assert MARK not in caplog.text
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "file", "said"),
    [
        ({"header": "id,q1,q1"}, None, "names the column “q1” twice"),
        ({"role-0": "left_out"}, None, "Expected one column with keys of students, found 0."),
        ({"others": ""}, None, "Choose a role for the column “q1”."),
        ({"others": "left_out", "role-1": "item"}, None, "Expected a quiz of 2 to 200 questions, found 1."),
        ({"declared-5": "4, 0"}, None, "the least and the largest value of “grade”"),
        ({"declared-4": ""}, None, "Write the values of “major”"),
        ({"declared-4": "law, =A1"}, None, "A value of “major” is a formula."),
        ({"about": ""}, None, "Write where the data come from"),
        ({"header": "id,q2,q1,q3,major,grade"}, None, "Line 1: expected the declared columns id, q2, q1, q3, major, grade; found id, q1"),
        ({}, quiz_file(19), "Expected at least 20 students, found 19"),
        ({}, quiz_file() + "s3,1,1,1,law,2\n", "Line 62, column “id”: the key of line 5 stands here again"),
        ({}, quiz_file() + ",1,1,1,law,2\n", "Line 62, column “id”: expected a student’s key, found nothing"),
        ({}, quiz_file() + "x,2,1,1,law,2\n", "Line 62, column “q1”: expected 0, 1 or nothing, found “2”"),
        ({}, quiz_file() + "x,1,=B2,1,law,2\n", "Line 62, column “q2”: expected a value, found the formula “=B2”"),
        ({}, quiz_file() + "=A1,1,1,1,law,2\n", "Line 62, column “id”: expected a student’s key, found a formula"),
        ({}, quiz_file() + "x,1,1,1,physics,2\n", "Line 62, column “major”: expected one of the declared values"),
        ({}, quiz_file() + "x,1,1,1,law,4.01\n", "Line 62, column “grade”: expected a number from 0 to 4"),
        ({}, quiz_file() + "x,1,1,1,law,nan9\n", "Line 62, column “grade”: expected a number from 0 to 4"),
        ({}, quiz_file() + "x,1,1,1,law\n", "Line 62, column “grade”: expected 6 columns, found 5"),
        ({}, quiz_file().encode() + "x,1,1,1,fran\xe7ais,2\n".encode("latin-1"), "Line 62, column “major”: expected text in UTF-8"),
        ({}, quiz_file() + 'x,1,1,1,"law,2\n', "Line 62: not a CSV file"),
        ({}, "", "Line 1: expected the names of the columns, found nothing"),
    ],
    ids=without_files,
)
def test_bad_input_is_refused_by_line_and_column_and_nothing_is_half_imported(change: Any, file: Any, said: str) -> None:
    refused = bring(logged_in(person(Role.INVESTIGATOR)), {**TYPED_TABLE, **change}, quiz_file() if file is None else file)
    assert refused.status_code == 422
    assert said in words(refused)
    assert not DataSet.objects.exists()
    assert not Snapshot.objects.exists()


@pytest.mark.parametrize(
    ("change", "file", "said"),
    [
        ({"language": "other"}, None, "Affect is read by an English lexicon"),
        ({"language": ""}, None, "Choose the language of the texts."),
        ({"words": "exam: exam\nquiz: exam"}, None, "The word “exam” tells two topics, “exam” and “quiz”."),
        ({"words": "exam"}, None, "The topic “exam” has no words. Write each line as a topic, a colon and its words."),
        ({"words": ""}, None, "Write at least one topic with its words."),
        ({"words": "\n".join(f"t{i}: w{i}" for i in range(101))}, None, "Write at most 100 topics, not 101."),
        ({"role-2": "left_out"}, None, "one with weeks and one with texts"),
        ({"weeks": "61"}, None, "Write a whole number from 1 to 60"),
        ({}, texts_file() + 'x,3,"An exam."\n', "Line 82, column “week”: expected a whole number from 1 to 2, found “3”"),
        (
            {},
            texts_file() + 'x,00000000112,"An exam."\n',
            "Line 82, column “week”: expected a whole number from 1 to 2, found “00000000112”",
        ),
        ({}, texts_file() + ',1,"An exam."\n', "Line 82, column “student”: expected a student’s key"),
        ({}, texts_file(19), "Expected at least 20 students, found 19"),
    ],
    ids=without_files,
)
def test_bad_texts_are_refused(change: Any, file: Any, said: str) -> None:
    refused = bring(logged_in(person(Role.INVESTIGATOR)), {**TYPED_TEXTS, **change}, texts_file() if file is None else file)
    assert refused.status_code == 422
    assert said in words(refused)
    assert not DataSet.objects.exists()


def test_a_number_that_is_minus_one_is_told_as_any_other() -> None:
    """Codes of categories have −1 for what is not given; numbers have it for minus one."""
    typed = {**TYPED_TABLE, "header": "id,course,mood", "others": "", "entries": "2"}
    typed |= {"role-1": "category-several", "declared-1": "a, b", "role-2": "number", "declared-2": "-3, 3"}
    owner = person(Role.INVESTIGATOR)
    rows = "".join(f"s{i},a,{-1 if i % 2 else 2}\ns{i},b,\n" for i in range(30))
    assert bring(logged_in(owner), typed, f"id,course,mood\n{rows}").status_code == 302
    table = table_of(DataSet.objects.get(owner=owner).source, 1)
    assert table is not None
    assert sorted(table["background.mood"]) == [-1.0] * 15 + [2.0] * 15
    refused = bring(logged_in(owner), typed, f"id,course,mood\n{rows}s0,a,-1\n")
    assert "expected the same value in all rows of a student, found another" in words(refused)


def test_several_rows_of_a_student_are_bounded() -> None:
    typed = {**TYPED_TABLE, "header": "id,course,year", "others": "", "entries": "2"}
    typed |= {"role-1": "category-several", "declared-1": "a, b, c", "role-2": "number", "declared-2": "1, 9"}
    rows = "".join(f"s{i},{course},{1 + i % 3}\n" for i in range(20) for course in "abc")
    browser = logged_in(person(Role.INVESTIGATOR))
    clash = bring(browser, typed, f"id,course,year\n{rows}s0,a,9\n")
    assert "Line 62, column “year”: expected the same value in all rows of a student" in words(clash)
    assert bring(browser, typed, f"id,course,year\n{rows}").status_code == 302
    table = table_of(DataSet.objects.get().source, 1)
    assert table is not None
    assert table["background.course"].shape == (20, 2)
    assert all(first != second for first, second in table["background.course"])
    assert sorted(table["background.year"].tolist())[:7] == [1.0] * 7


def test_an_officer_approves_sends_back_and_freezes_and_the_log_tells_all() -> None:
    owner, officer, analyst = person(Role.INVESTIGATOR), person(Role.IRB_OFFICER), person(Role.ANALYST)
    made = data_set(owner)
    mine, theirs = logged_in(owner), logged_in(officer)
    assert theirs.get(page(made)).status_code == 404, "nothing was submitted yet"
    bought = mine.get(page(made), {"epsilon": "2", "rarity": "1000000"})
    assert "A single count to ± 2 of 60 people" in words(bought)
    assert "ten times the students" in words(mine.get(page(made), {"epsilon": "1", "rarity": "600"}))
    for epsilon, rarity in (("0", "1000000"), ("11", "1000000"), ("1", "600"), ("much", "1000000")):
        assert mine.post(page(made), {"action": "submit", "epsilon": epsilon, "rarity": rarity}).status_code == 422
    named(made, analyst)
    assert mine.post(page(made), {"action": "submit", "epsilon": "1", "rarity": "1000000"}).status_code == 302
    assert made.title in words(theirs.get(reverse("analysis:inbox")))
    assert mine.post(page(made), {"action": "approve", "epsilon": "1.0", "delta": "1e-06"}).status_code == 404, "never oneself"
    assert theirs.post(page(made), {"action": "send-back", "reason": " "}).status_code == 422
    seen = {"epsilon": "1.0", "delta": "1e-06", "delete_on": f"{usual_day()}", "about": made.about}
    assert theirs.post(page(made), {"action": "send-back", "reason": "Say who agreed.", **seen}).status_code == 302
    assert "sent it back on" in words(mine.get(page(made)))
    mine.post(page(made), {"action": "submit", "epsilon": "0.5", "rarity": "1000000"})
    stale = theirs.post(page(made), {"action": "approve", "epsilon": "1.0", "delta": "1e-06", "analyst": analyst.pk})
    assert (stale.status_code, "The budget or the day was changed meanwhile" in words(stale)) == (422, True)
    assert logged_in(analyst).get(page(made)).status_code == 404
    form = page_of(theirs.get(page(made))).xpath("//form[.//button[@value='approve']]")[0]
    sent = {field.get("name"): field.get("value") for field in form.xpath(".//input[@type='hidden']")}
    assert theirs.post(page(made), {**sent, "action": "approve"}).status_code == 302
    assert logged_in(analyst).get(page(made)).status_code == 200
    ledger = page(made, "data_set_ledger")
    assert theirs.post(ledger, {"action": "freeze", "reason": "A complaint."}).status_code == 302
    assert "froze this budget on" in words(mine.get(ledger))
    assert (heading(mine.get(ledger)), logged_in(analyst).get(ledger).status_code) == ("Ledger", 404)
    told = list(Entry.objects.filter(subject_kind="analysis.dataset").order_by("sequence").values_list("action", flat=True))
    assert told == [
        "data_set.brought",
        "data_set.invited",
        "data_set.invitation_accepted",
        "data_set.submitted",
        "data_set.sent_back",
        "data_set.submitted",
        "data_set.approved",
        "ledger.frozen",
    ]


def test_an_analyst_who_comes_later_waits_for_an_officer_who_saw_the_name() -> None:
    officer, late, later = person(Role.IRB_OFFICER), person(Role.ANALYST), person(Role.IRB_OFFICER)
    source = approved(officer=officer)
    made = source.data_set
    assert made is not None
    named(made, late)
    named(made, later)
    assert logged_in(late).get(page(source)).status_code == 404
    assert "An analyst waits" in words(logged_in(officer).get(reverse("analysis:inbox")))
    with pytest.raises(DataSetError, match="Another IRB officer decides"):
        services.approve_analysts(made, analysts=[later.pk], actor=later)
    assert logged_in(officer).post(page(source), {"action": "approve-analysts", "analyst": late.pk}).status_code == 302
    assert list(DataSetAnalyst.objects.filter(approved_on=None).values_list("user", flat=True)) == [later.pk]
    browser = logged_in(late)
    assert browser.get(page(source, "data_set_questions")).status_code == 200
    assert browser.post(page(source), {"action": "leave"}).status_code == 302
    assert browser.get(page(source)).status_code == 404


def test_an_administrator_who_submitted_a_data_set_and_becomes_an_officer_does_not_decide_about_it() -> None:
    made = data_set()
    author, other = person(Role.ADMINISTRATOR), person(Role.IRB_OFFICER)
    services.submit(made, budget=BUDGET, delete_on=usual_day(), actor=author)
    author = change_role(user=author, role=Role.IRB_OFFICER)
    decision = {"budget": (BUDGET.epsilon, BUDGET.delta), "delete_on": f"{usual_day()}", "analysts": ()}
    with pytest.raises(DataSetError, match="Another IRB officer decides"):
        services.approve(made, **decision, actor=author)
    assert logged_in(author).post(page(made), {"action": "send-back", "reason": "Say who agreed."}).status_code == 404
    services.approve(made, **decision, actor=other)


def test_a_data_set_has_the_pages_of_a_closed_study_and_its_api() -> None:
    analyst = person(Role.ANALYST)
    source = approved(analysts=(analyst,))
    owner, browser = logged_in(source.whole.owner), logged_in(analyst)
    asked = {"kind": "count", "where.background.major": "law", "exact": "epsilon", "epsilon": "0.2", "show": "1"}
    shown = browser.get(page(source, "data_set_questions"), asked)
    (document,) = page_of(shown).xpath("//input[@name='document']/@value")
    assert "What the die protects" not in words(shown)
    assert browser.post(page(source, "data_set_questions"), {"document": document}).status_code == 302
    assert owner.post(page(source, "data_set_difficulties"), {"share": "30", "omitted": "wrong", "reason": "A test."}).status_code == 302
    for asking in Asking.objects.all():
        work_on(asking)
    assert [one.state for one in asked_before(budget_of(source))] == ["answered", "answered"]
    shown = words(owner.get(page(source, "data_set_difficulties")))
    assert "q1" in shown
    assert "every student can work out" not in shown, "a data set has no page for students"
    number = Charge.objects.get(kind="difficulties").number
    file = owner.get(reverse("analysis:data_set_difficulties_file", args=[source.whole.slug, number]))
    assert (file.json()["data_set"], len(file.json()["items"])) == ("marks-of-a-course", 3)
    assert browser.get(page(source, "data_set_difficulties")).status_code == 404
    reading = Client(headers={"Authorization": f"Bearer {issue_token(user=analyst, name='r', scope=TokenScope.ANALYTICS_READ, days=1)}"})
    spending = Client(headers={"Authorization": f"Bearer {issue_token(user=analyst, name='s', scope=TokenScope.ANALYTICS_SPEND, days=1)}"})
    assert [one["slug"] for one in reading.get("/api/v1/data-sets/").json()] == ["marks-of-a-course"]
    assert reading.get("/api/v1/data-sets/marks-of-a-course/").json()["students"] == 60
    address, question = "/api/v1/data-sets/marks-of-a-course/questions/", {"question": COUNT}
    preview = reading.post(f"{address}preview/", question, content_type="application/json")
    assert (preview.status_code, preview.json()["pure_epsilon"]) == (200, 0.1)
    assert reading.post(address, question, content_type="application/json").status_code == 403
    assert spending.post(address, question, content_type="application/json").json()["number"] == 3
    assert reading.get("/api/v1/data-sets/marks-of-a-course/ledger/").status_code == 404, "analysts read answers, not the ledger"


def test_topics_are_counted_with_noise_for_the_whole_term() -> None:
    source = approved(brought=TEXTS, title="Diaries")
    browser, address = logged_in(source.whole.owner), page(source, "data_set_topics")
    offered = browser.get(address, {"noise": "epsilon", "amount": "0.5"})
    assert "2 weeks at 0.25 each; together the term costs a student ε = 0.5." in words(offered)
    german = browser.get(address, {"noise": "epsilon", "amount": "0,5"}, headers={"accept-language": "de"})
    assert "2 Wochen zu je 0,25; zusammen kostet das Semester eine Person ε = 0,5." in words(german)
    warning = "It would be the first charge that is not pure."
    assert [warning in words(browser.get(address, {"noise": noise, "amount": "0.01"})) for noise in ("epsilon", "rho")] == [False, True]
    # L1 is 2 × 1 topic × 2 weeks: the scale is 4/0.5 = 8, and ln(20) · 8 ≈ 24.
    assert "Each count will be right to ± 24, 95 times in 100. A student counts in at most 1 topic a week." in words(offered)
    assert browser.post(address, {"noise": "epsilon", "amount": "0.5"}).status_code == 302
    work_on(Asking.objects.get())
    (asked,) = asked_before(budget_of(source))
    assert (asked.state, asked.loss.pure_epsilon) == ("answered", 0.5)
    assert [(row["topic"], row["affect"]) for row in asked.answer["rows"]][:4] == [
        ("recursion", "positive"),
        ("recursion", "negative"),
        ("recursion", "none"),
        ("exam", "positive"),
    ]
    shown = browser.get(address)
    assert len(page_of(shown).xpath("//table[@class='heat']//td")) == 2 * 3 * 2
    assert browser.post(address, {"noise": "rho", "amount": "0"}).status_code == 422
    for amounts in ({"epsilon": 1e-320}, {"rho": -1}, {"rho": 11}, {"epsilon": 0.1, "rho": 0.1}, {}):
        for name in ("api_data_set_preview_topics", "api_data_set_topics"):
            assert browser.post(page(source, name), amounts, content_type="application/json").status_code == 400, amounts
    told = browser.post(page(source, "api_data_set_preview_topics"), {"rho": 0.01}, content_type="application/json").json()
    assert (told["weeks"], told["topics_a_week"], told["a_week"]) == (2, 1, 0.005)
    assert (told["pure_epsilon_left"], told["pure_epsilon_left_after"]) == (0.5, None), "a refused question ends nothing"
    assert "The rest is" in told["obstacle"]
    assert [one["state"] for one in browser.get(page(source, "api_data_set_topics")).json()] == ["answered"]
    document = '{"kind": "histogram", "by": ["topic.exam"], "epsilon": 0.1}'
    refused = browser.post(page(source, "data_set_questions"), {"document": document})
    assert refused.status_code == 422, "topics are asked on their page alone"


def test_deleted_rows_cannot_be_asked_and_answers_stay() -> None:
    source = approved()
    browser = logged_in(source.whole.owner)
    assert browser.post(page(source), {"action": "delete"}).status_code == 422
    assert browser.post(page(source), {"action": "delete", "sure": "yes"}).status_code == 302
    assert Snapshot.objects.get().data is None
    assert "The data are deleted. Earlier answers stay" in words(browser.get(page(source, "data_set_questions")))
    assert "The rows were deleted on" in words(browser.get(page(source)))
    with pytest.raises(DataSetError, match="deleted"):
        services.submit(source.whole, budget=BUDGET, delete_on=usual_day(), actor=source.whole.owner)


def test_two_data_sets_may_have_one_title() -> None:
    owner = person(Role.INVESTIGATOR)
    assert [data_set(owner).slug for _ in range(2)] == ["marks-of-a-course", "marks-of-a-course-2"]
    assert [data_set(owner, title=one).slug for one in ("日本", "Größen & Maße")] == ["data-set", "grossen-masse"]
    assert data_set(owner, title="New").slug == "new-2", "the address of the form"


def test_two_data_sets_of_one_title_may_come_at_the_same_moment(postgresql: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A button that is pressed twice sends the file twice."""
    owner, find, both = person(Role.INVESTIGATOR), services._free_slug, threading.Barrier(2)

    def find_together(title: str) -> str:
        found = find(title)
        with suppress(threading.BrokenBarrierError):
            both.wait(5)
        both.abort()
        return found

    monkeypatch.setattr(services, "_free_slug", find_together)
    made = at_once(lambda: data_set(owner), lambda: data_set(owner))
    assert sorted(one.slug for one in made) == ["marks-of-a-course", "marks-of-a-course-2"]


def test_no_page_of_a_data_set_tells_an_exact_statistic_of_it() -> None:
    """Two data sets that differ in every answer but have as many students look the same to everybody."""
    analyst, officer, owner = person(Role.ANALYST), person(Role.IRB_OFFICER), person(Role.INVESTIGATOR)
    same = quiz_file()
    other = "\n".join([same.splitlines()[0], *(f"{line.split(',')[0]},1,1,1,art,4" for line in same.splitlines()[1:])]) + "\n"
    seen = []
    for file in (same, other):
        source = approved(owner, analysts=(analyst,), officer=officer, brought=TABLE, file=file)
        slug = source.whole.slug
        found = []
        for user in (owner, officer, analyst):
            browser = logged_in(user)
            for name in ("data_set", "data_set_questions", "data_set_difficulties", "data_set_topics", "data_set_ledger"):
                found.append(words(browser.get(page(source, name))).replace(slug, "SLUG"))
            for name in ("api_data_set", "api_data_set_questions", "api_data_set_ledger"):
                found.append(browser.get(page(source, name)).content.decode().replace(slug, "SLUG"))
        seen.append(found)
    assert seen[0] == seen[1]


def test_what_is_wrong_with_a_first_line_stands_at_it_and_for_a_look_in_the_part_that_comes() -> None:
    client, sent = logged_in(person(Role.INVESTIGATOR)), {"action": "columns", "header": "id,id"}
    address = reverse("analysis:bring_data")
    part = page_of(client.post(address, sent, headers={"HX-Request": "true"})).get_element_by_id("columns").text_content()
    whole = page_of(client.post(address, sent))
    (said,) = whole.xpath('//*[@id="header-error"]/text()')
    assert said in part
    assert said not in whole.get_element_by_id("columns").text_content()
