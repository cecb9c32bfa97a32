"""Attacks on learning analytics: files that grow, losses and budgets next to nothing, bounds that no question can use, broken documents."""

import io
import json
from dataclasses import asdict
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from analysis.data_sets import services
from analysis.data_sets.retention import usual_day
from analysis.ledger.errors import LedgerError
from analysis.ledger.questions import KINDS
from analysis.ledger.services import ask, freeze, lower
from analysis.models import Charge, DataSet, Source
from analysis.sources import table_files, text_files
from surveys.batches.services import count_again
from surveys.definition import DIRECT
from surveys.models import Participant
from surveys.questions.plans import PrivacyBudget
from surveys.reading.words import UnreadableError
from surveys.sharing.services import remove_member
from tests.data_sets import TEXTS, approved, data_set, quiz_file, texts_file
from tests.factories import logged_in, page_of, person
from tests.integration.test_data_set_import import DECLARED, changed, send
from tests.integration.test_network_questions import source_of_circles
from tests.ledgers import analyst_of, asked_and_answered, budget_of, open_source, solved
from tests.record_sets import FILES
from tests.record_sets import bring as bring_records

pytestmark = pytest.mark.django_db
COUNT = {"kind": "count", "where": [{"column": "background.major", "in": ["law"]}], "epsilon": 0.1}
MORE_THAN_CAN_BE_KEPT = "this is more than can be kept"


def said_on(response: Any) -> str:
    return " ".join(page_of(response).text_content().split())


def test_a_small_file_does_not_grow_in_the_web_process() -> None:
    """Attack: rows of commas, of which a hundred count for each student. 0.4 MB are unpacked to 320 MB, and pack to nearly nothing."""
    numbers = [{"name": f"c{place}", "role": "number", "minimum": 0, "maximum": 1, "several": True} for place in range(100)]
    names = ["id", *(column["name"] for column in numbers)]
    file = "\n".join([",".join(names), *(f"s{student}{',' * 100}" for student in range(4000))]) + "\n"
    table = {"columns": [{"name": "id", "role": "student"}, *numbers], "entries": 100}
    declared = {"title": "Large", "about": "Ours.", "table": table}
    refused = send(logged_in(person(Role.INVESTIGATOR)), declared, file)
    assert (refused.status_code, MORE_THAN_CAN_BE_KEPT in refused.content.decode()) == (400, True)
    assert not DataSet.objects.exists()
    table["entries"] = 2
    assert send(logged_in(person(Role.INVESTIGATOR)), declared, file).status_code == 201


def test_many_topics_in_many_weeks_do_not_grow_either() -> None:
    topics = {f"topic {place}": [f"word{place}"] for place in range(100)}
    roles = {name: name for name in ("student", "week", "text")}
    file = "\n".join(["student,week,text", *(f"s{student},1," for student in range(50_000))]).encode()
    with pytest.raises(UnreadableError, match=MORE_THAN_CAN_BE_KEPT):
        text_files.read(io.BytesIO(file), names=list(roles), roles=roles, topics=topics, weeks=60, cap=1)


def test_a_million_students_with_thirty_numbers_have_room() -> None:
    table_files.require_room(10**6 * 30 * 8)


@pytest.mark.parametrize("loss", [{"epsilon": 1e-320}, {"epsilon": 1e-17}, {"rho": 5e-324}, {"epsilon": "nan"}, {"rho": 1e-7}])
def test_a_loss_next_to_nothing_is_refused_and_breaks_no_preview(loss: dict[str, Any]) -> None:
    """Attack: noise that no double holds. The previews of networks ended with an error of the server."""
    source = source_of_circles()
    browser = logged_in(source.study.owner)
    for asked in ({"kind": "network_degrees"}, {"kind": "network_class_means", "classes": "class"}):
        for page in ("preview/", ""):
            address = f"/api/v1/studies/{source.study.slug}/analytics/networks/{page}"
            refused = browser.post(address, json.dumps({"circle": "team", **asked, **loss}), content_type="application/json")
            assert refused.status_code == 400, refused.content
    assert not Charge.objects.exists()


@pytest.mark.parametrize(
    ("low", "high"), [("-inf", "inf"), (-1e308, 1e308), (0, 5e-324), (1e16, 1.0000000000000002e16), (4, 0), (1, 1)], ids=str
)
def test_bounds_that_no_question_can_use_are_refused_when_the_data_come(low: object, high: object) -> None:
    refused = send(logged_in(person(Role.INVESTIGATOR)), changed(5, minimum=low, maximum=high), quiz_file())
    assert refused.status_code == 400, refused.content
    assert not DataSet.objects.exists()


@pytest.mark.parametrize("epsilon", [1e-13, 1e-320])
def test_a_budget_below_one_unit_has_nothing_left_and_its_pages_stand(epsilon: float) -> None:
    """Attack: an owner asks by program for a budget that is nothing in whole units. Its ledger divided by zero."""
    owner = person(Role.INVESTIGATOR)
    made = data_set(owner)
    services.submit(made, budget=PrivacyBudget(epsilon=epsilon, delta=1e-6), delete_on=usual_day(), actor=owner)
    services.approve(made, budget=(epsilon, 1e-6), delete_on=str(usual_day()), analysts=(), actor=person(Role.IRB_OFFICER))
    pages_stand(made)


def test_a_budget_that_was_lowered_below_one_unit_has_pages_too() -> None:
    source = approved()
    lower(source, epsilon=1e-13, delta=1e-6, actor=person(Role.IRB_OFFICER))
    pages_stand(source.data_set)


def pages_stand(made: DataSet) -> None:
    browser = logged_in(made.owner)
    for page in ("data_set", "data_set_ledger", "data_set_questions"):
        assert browser.get(reverse(f"analysis:{page}", args=[made.slug])).status_code == 200
    shown = browser.get(f"/api/v1/data-sets/{made.slug}/ledger/")
    assert (shown.status_code, shown.json()["spent"]["epsilon"]) == (200, 0.0)
    question = {"question": COUNT}
    asked = browser.post(f"/api/v1/data-sets/{made.slug}/questions/", json.dumps(question), content_type="application/json")
    assert asked.status_code == 409
    assert not Charge.objects.exists()


@pytest.mark.parametrize(
    "document",
    [
        "[" * 20_000,
        '{"kind": ' * 2_000,
        '{"kind": "count", "epsilon": 0.1, "where": [{"column": "background.major", "in": ["\\ud800"]}]}',
        '{"kind": "count", "epsilon": 0.1, "where": [{"column": "background.major", "in": ["\\u0000"]}]}',
        '{"kind": "count", "epsilon": NaN, "where": []}',
        '{"kind": "count", "epsilon": 0.1, "epsilon": 10}',
        "",
    ],
    ids=["lists", "objects", "half a letter", "nothing", "no number", "twice", "empty"],
)
def test_a_broken_document_is_refused_in_words_on_the_page(document: str) -> None:
    """Attack: the field that carries the question from its cost to its button is filled by hand."""
    source = approved()
    refused = logged_in(source.whole.owner).post(reverse("analysis:data_set_questions", args=[source.whole.slug]), {"document": document})
    assert refused.status_code == 422
    assert "Expected a question, found something else." in said_on(refused)
    assert not Charge.objects.exists()


@pytest.mark.parametrize(
    "again",
    ["Mu\u0308ller", "M\u00fc\u00adller", "\ufeffM\u00fcller", " M\u00fcller\u200b", "Ｍüller", "\u3164Mül\ufe0fler\x08"],
    ids=ascii,
)
def test_a_key_written_by_two_programs_is_one_student(again: str) -> None:
    """Attack: half of a class comes from another computer. Its keys look the same, and a student would count twice, for twice the loss."""
    browser = logged_in(person(Role.INVESTIGATOR))
    refused = send(browser, DECLARED, quiz_file() + f"Müller,1,1,1,law,2\n{again},0,0,0,art,3\n")
    assert (refused.status_code, "the key of line 62 stands here again" in refused.content.decode()) == (400, True)
    file = io.BytesIO((texts_file() + f"Müller,1,a\n{again},2,b\n").encode())
    assert text_files.read(file, **asdict(TEXTS))["n"] == 41
    students = FILES["students.csv"] + f"Müller,1991,f,N\n{again},1992,f,O\n"
    assert "the student of line 62 stands here again" in said_on(bring_records(browser, files={**FILES, "students.csv": students}))


def test_students_read_their_tables_although_a_newer_version_answered_questions_of_its_own(
    monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    source = open_source()
    asked_and_answered(source, rho=0.001)
    monkeypatch.delitem(KINDS, "solved")
    assert source.study is not None
    assert client.get(reverse("analysis:outlook", args=[source.study.slug])).status_code == 200


def test_a_study_without_results_because_so_few_answered_is_not_asked_about_either() -> None:
    """Attack: nine answered with the die, and all others were drawn into the direct group and had refused. Their reports are free."""
    source = open_source()
    answered = Participant.objects.filter(study=source.study, counted=True).values_list("pk", flat=True)[:10]
    Participant.objects.exclude(pk__in=list(answered)).update(subsample=DIRECT, agrees_to_direct=False)
    count_again(source.study)
    assert ask(source, solved(), actor=source.study.owner).state == "reserved"
    Participant.objects.filter(pk=answered[0]).update(subsample=DIRECT, agrees_to_direct=False)
    count_again(source.study)
    with pytest.raises(LedgerError, match="fewer than ten people who answered"):
        ask(source, solved(marker="again"), actor=source.study.owner)


def test_an_officer_who_asked_and_left_does_not_free_the_budget_for_more() -> None:
    """Attack: an officer asks as an analyst, another one freezes the budget for it, and the first leaves, to be an officer again."""
    both, other = person(Role.IRB_OFFICER), person(Role.IRB_OFFICER)
    source = approved(analysts=(both,), officer=other)
    ask(source, {"kind": "statistic", "question": COUNT}, actor=both)
    freeze(source, reason="Too many questions.", actor=other)
    services.remove_analyst(source.whole, user_id=both.pk, actor=both)
    page = reverse("analysis:data_set_ledger", args=[source.whole.slug])
    assert logged_in(both).post(page, {"action": "unfreeze"}).status_code == 404
    study = open_source().study
    assert study is not None
    of_study = Source.objects.get(study=study)
    ask(of_study, solved(rho=0.001), actor=analyst_of(of_study, both))
    remove_member(study, user_id=both.pk, actor=both)
    freeze(of_study, reason="Too many questions.", actor=other)
    refused = logged_in(both).post(reverse("analysis:analytics_ledger", args=[study.slug]), {"action": "unfreeze"})
    assert "Another IRB officer lets it be spent again." in said_on(refused)
    for one, address in ((source, page), (of_study, reverse("analysis:analytics_ledger", args=[study.slug]))):
        assert budget_of(one).frozen_on is not None
        assert logged_in(other).post(address, {"action": "unfreeze"}).status_code == 302
        assert budget_of(one).frozen_on is None
