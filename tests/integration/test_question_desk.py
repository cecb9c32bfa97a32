"""The desk: what, about whom, how exactly; cost and error first; then one button. And the same for programs."""

import json
import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from analysis.answers.datasets import category_counts
from analysis.learning.questions.columns import SCORE, library_schema, library_table
from analysis.ledger import services
from analysis.models import Asking, Charge, Snapshot, Source
from analysis.sources.selectors import schema_of_snapshot, table_of
from candor.categories.estimates import estimate_categories
from candor.queries.kinds import KINDS
from surveys.models import MemberRole, Participant, StudyMember
from surveys.protocols import protocol_in_force
from tests.categories import with_frequency
from tests.factories import logged_in, page_of, person
from tests.jobs import work_on
from tests.ledgers import budget_of, make_snapshot, open_source, withdraw

pytestmark = pytest.mark.django_db


def address(source: Source, **query: Any) -> str:
    page = reverse("analysis:analytics_questions", args=[source.study.slug])
    return f"{page}?{urlencode(query, doseq=True)}" if query else page


def text_of(response: HttpResponse) -> str:
    return " ".join(page_of(response).xpath("//main")[0].text_content().split())


def columns_of(source: Source) -> dict[str, Any]:
    return {column.name: column for column in library_schema(schema_of_snapshot(source, 1)).columns}


def documents(source: Source) -> dict[str, dict[str, Any]]:
    """One question of each kind about the sample study."""
    columns = columns_of(source)
    names = [name for name, column in columns.items() if hasattr(column, "values") and name.startswith("background") and not column.entries]
    first, second = names[0], names[1]
    value = columns[first].values[0]
    solved = {"column": SCORE, "low": 0, "high": columns[SCORE].maximum}
    score = {"column": SCORE, "edges": [0, 1, columns[SCORE].maximum]}
    return {
        "count": {"where": [{"column": first, "in": [value]}]},
        "share": {"event": [{"column": first, "in": [value]}]},
        "histogram": {"by": [first, score]},
        "mean": solved | {"by": [first]},
        "sum": dict(solved),
        "quantile": solved | {"q": 0.5},
        "most_common": {"column": first},
        "recommendation": {"option": first, "band": second, "success": [{"column": SCORE, "from": 1, "to": columns[SCORE].maximum}]},
        "naive_bayes": {"target": first, "features": [second, score]},
    }


def typed(source: Source, **more: Any) -> dict[str, Any]:
    """A count as the form sends it."""
    where = documents(source)["count"]["where"][0]
    return {"kind": "count", f"where.{where['column']}": where["in"], "exact": "epsilon", "epsilon": "0.2", "show": "1", **more}


def spend(browser: Client, source: Source) -> HttpResponse:
    page = page_of(browser.get(address(source, **typed(source))))
    (document,) = page.xpath("//input[@name='document']/@value")
    return browser.post(address(source), {"document": document})


def test_the_cost_and_the_error_come_first_then_one_button_then_the_answer() -> None:
    source = open_source()
    browser = logged_in(source.study.owner)
    assert "Spend and answer" not in text_of(browser.get(address(source)))
    shown = text_of(browser.get(address(source, **typed(source))))
    assert "It costs ε = 0.2, with discrete Laplace noise. The answer is exact to ± 15.5, 95 times in 100." in shown
    assert "Spend and answer" in shown
    assert not Charge.objects.exists()
    assert spend(browser, source).status_code == 302
    waiting = browser.get(address(source))
    assert "The answer is being computed." in text_of(waiting)
    assert page_of(waiting).xpath("//div[@id='answers']/@hx-trigger")
    work_on(Asking.objects.get())
    answered = browser.get(address(source))
    assert not page_of(answered).xpath("//div[@id='answers']/@hx-trigger")
    assert re.search(r"\d · 95 % interval: [−-]?\d+ – [−-]?\d+ Privacy", text_of(answered)), "no space before a comma or a bracket"
    assert "Privacy: ε = 0.2, discrete Laplace noise. Neighbours: one participant's whole row is replaced" in text_of(answered)
    assert "This was asked before" in text_of(browser.get(address(source, **typed(source))))
    assert spend(browser, source).status_code == 302
    assert Charge.objects.count() == 1


def test_a_class_that_is_too_small_is_told_so_before_anything_is_filled_in() -> None:
    source = open_source()
    Snapshot.objects.filter(source=source).update(n=19)
    browser, said = logged_in(source.study.owner), "Expected at least 20 students to ask about, found 19."
    page = browser.get(address(source))
    assert said in text_of(page)
    assert "Show cost and error" not in text_of(page)
    assert said in text_of(browser.get(reverse("analysis:analytics_ledger", args=[source.study.slug])))
    assert "Bots do not count" not in text_of(page)
    one = Participant.objects.filter(study=source.study).first()
    assert one is not None
    Participant.objects.filter(pk=one.pk).update(is_bot=True)
    assert f"{said} Bots do not count as people." in text_of(browser.get(address(source)))


def test_the_epsilon_for_a_wanted_error_and_a_share_of_what_is_left() -> None:
    source = open_source()
    browser = logged_in(source.study.owner)
    wanted = text_of(browser.get(address(source, **typed(source, exact="error", error="10"))))
    assert "exact to ± 10," in wanted
    few = text_of(browser.get(address(source, **typed(source, exact="questions", questions="5"))))
    assert "It costs ε = 0.2, with discrete Laplace noise" in few
    many = text_of(browser.get(address(source, **typed(source, exact="questions", questions="90"))))
    assert "with discrete Gaussian noise" in many
    assert "this would be mostly noise" in many
    assert not Charge.objects.exists()


def test_the_first_charge_that_is_not_pure_says_what_it_takes_from_pure_ones() -> None:
    source = open_source()
    browser, warning = logged_in(source.study.owner), "It would be the first charge that is not pure."
    sure = typed(source, exact="questions", questions="5")
    assert warning not in text_of(browser.get(address(source, **sure)))
    gaussian = typed(source, exact="questions", questions="90")
    offered = browser.get(address(source, **gaussian))
    found = re.search(rf"{warning} .*: ε = ([\d.]+) would be left for one question with pure ε, where it is ([\d.]+) now", text_of(offered))
    assert found
    (document,) = page_of(offered).xpath("//input[@name='document']/@value")
    assert browser.post(address(source), {"document": document}).status_code == 302
    after = text_of(browser.get(address(source, **sure)))
    assert f"or ε = {found[1]} for one question with pure ε" in after, "what was said came true"
    assert float(found[1]) < float(found[2])
    others = typed(source, exact="questions", questions="80")
    assert warning not in text_of(browser.get(address(source, **others))), "only the first one changes the count"


def test_what_is_typed_wrongly_is_named() -> None:
    source = open_source()
    browser = logged_in(source.study.owner)
    nobody = {name: [] for name in typed(source) if name.startswith("where")}
    place = list(columns_of(source)).index(SCORE)
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"epsilon": "much"}, "epsilon", "ε: Expected a number, found “much”."),
        ({"epsilon": ""}, "epsilon", "Write a number above 0 and at most 10."),
        ({"exact": "error", "error": ""}, "error", "Write a number above 0."),
        ({"epsilon": "١١"}, "epsilon", "Write a number above 0 and at most 10."),
        ({"epsilon": "1e-300"}, "epsilon", "So small a loss buys nothing. Write a larger number."),
        ({"epsilon": "0"}, "epsilon", "Write a number above 0 and at most 10."),
        ({"exact": "questions", "questions": "0"}, "questions", "Write a whole number from 1 to 100,000, not “0”."),
        ({"exact": "questions", "questions": "2.5"}, "questions", "Write a whole number from 1 to 100,000, not “2.5”."),
        ({"exact": "error", "error": "-1"}, "error", "Write a number above 0."),
        ({"kind": "mean"}, "column", "Choose one of these."),
        ({"kind": "mean", "column": "secret"}, "column", "Choose one of these."),
        ({"kind": "mean", "column": SCORE, "low": "3", "high": "1"}, "high", "The upper bound must be above the lower one."),
        ({"kind": "naive_bayes", "target": documents(source)["most_common"]["column"]}, "features", "Choose at least one of these."),
        ({"kind": "share"}, "event", "Choose at least one answer."),
        ({f"where.{SCORE}.from": "3", f"where.{SCORE}.to": "1"}, f"where-{place}-to", "The upper bound must be above the lower one."),
        ({f"where.{SCORE}.from": "few"}, f"where-{place}-from", "Expected a number, found “few”."),
        ({"kind": "histogram", "by": SCORE, "by2": SCORE, "parts": "100"}, "by2", "Expected at most 1000 groups together, found 10201."),
        (nobody, "where", "Choose at least one answer: how many"),
    ]
    for more, field, said in cases:
        response = browser.get(address(source, **(typed(source) | more)))
        assert response.status_code == 422, more
        page = page_of(response)
        assert "This number is public, so a count needs at least one answer." in page.text_content(), "the page agrees with its errors"
        (link,) = page.xpath("//*[@class='error-summary']//a")
        assert (link.get("href"), said in link.text_content()) == (f"#{field}", True), more
        said = said.removeprefix("ε: ")
        (target,) = page.xpath(f"//*[@id='{field}']")
        if field == "features":  # the whole group is described
            target = page.xpath("//fieldset[@id='features-group']")[0]
        elif target.tag != "h2" and target.tag != "h3":
            assert target.get("aria-invalid") == "true", more
        if described := (target.get("aria-describedby") or "").split():
            assert said in page.xpath(f"//*[@id='{described[-1]}']")[0].text_content(), more
        else:
            assert target.tag in ("h2", "h3"), more
    unreachable = page_of(browser.get(address(source, **typed(source, exact="error", error="0.0001"))))
    assert unreachable.xpath("//*[@class='error-summary']//a/@href") == ["#error"]
    assert browser.post(address(source), {"document": "{"}).status_code == 422
    assert not Charge.objects.exists()


def test_a_question_that_does_not_fit_says_what_is_left() -> None:
    source = open_source()
    browser = logged_in(source.study.owner)
    spend(browser, source)
    refused = browser.get(address(source, **typed(source, epsilon="0.9")))
    assert "The question costs ε = 0.9. The rest is" in text_of(refused)
    assert "Spend and answer" not in text_of(refused)
    document = {"kind": "count", "epsilon": 0.9, **documents(source)["count"]}
    assert browser.post(address(source), {"document": json.dumps(document)}).status_code == 422
    services.freeze(source, reason="Enough.", actor=person(Role.IRB_OFFICER))
    assert "An IRB officer froze this budget: Enough." in text_of(browser.get(address(source, **typed(source, epsilon="0.1"))))
    assert Charge.objects.count() == 1


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_asked_answered_and_shown(kind: str) -> None:
    source = open_source(epsilon=5.0)
    document = {"kind": kind, "epsilon": 1.0, **documents(source)[kind]}
    browser = logged_in(source.study.owner)
    assert browser.get(address(source, kind=kind)).status_code == 200
    assert browser.post(address(source), {"document": json.dumps(document)}).status_code == 302
    asking = Asking.objects.get()
    work_on(asking)
    asking.refresh_from_db()
    assert asking.status == "done", asking.error
    page = browser.get(address(source))
    assert page_of(page).xpath("//section[@id='question-1']//strong | //section[@id='question-1']//tbody/tr")
    assert "background." not in text_of(page), "columns are named in words"


@pytest.mark.parametrize("kind", KINDS)
def test_the_form_of_every_kind_makes_a_question(kind: str) -> None:
    source = open_source()
    document = documents(source)[kind]
    fields: dict[str, Any] = {"kind": kind, "exact": "epsilon", "epsilon": "0.3", "show": "1", "parts": "2"}
    for name in ("column", "option", "band", "target", "q"):
        if name in document:
            fields[name] = document[name]
    if kind in ("histogram", "mean"):
        fields |= {"by": document["by"][0]} | ({"by2": SCORE} if kind == "histogram" else {})
    if kind == "naive_bayes":
        fields["features"] = [document["features"][0], SCORE]
    for block, name in (("where", "where"), ("event", "event"), ("event", "success")):
        for condition in document.get(name, ()):
            if "in" in condition:
                fields[f"{block}.{condition['column']}"] = condition["in"]
            else:
                fields |= {f"{block}.{condition['column']}.from": condition["from"], f"{block}.{condition['column']}.to": condition["to"]}
    shown = logged_in(source.study.owner).get(address(source, **fields))
    assert shown.status_code == 200
    assert "Spend and answer" in text_of(shown)


def test_questions_about_reported_answers_alone_are_free_exact_and_open_to_the_die() -> None:
    source = open_source()
    browser = logged_in(source.study.owner)
    (answer, *_others) = [name for name in columns_of(source) if name.startswith("answer.")]
    free = address(source, kind="histogram", by="arm", by2=answer, exact="epsilon", epsilon="1", show="1")
    page = browser.get(free)
    assert "This is free: the die protects these answers already." in text_of(page)
    (document,) = page_of(page).xpath("//input[@name='document']/@value")
    browser.post(address(source), {"document": document})
    browser.post(address(source), {"true_yes": answer})
    for asking in Asking.objects.all():
        work_on(asking)
    assert [(charge.rho_units, charge.epsilon_units) for charge in Charge.objects.all()] == [(0, 0), (0, 0)]
    counts, inverted = (charge.asking.released for charge in Charge.objects.order_by("number"))
    table = table_of(source, 1)
    assert table is not None
    assert sum(cell["value"] for cell in counts["cells"]) == table.n
    assert all(cell["low"] == cell["value"] == cell["high"] for cell in counts["cells"])
    assert all(-1 <= cell["low"] <= cell["high"] <= 1 for cell in inverted["cells"])
    assert [cell["labels"] for cell in inverted["cells"]] == [["instructor − slides"]], "the sample's die tells the difference alone"
    assert "true yes" in text_of(browser.get(address(source)))
    assert "Annahme: Cheaters" in text_of(browser.get(address(source), headers={"accept-language": "de"}))


def test_the_die_is_not_inverted_where_sections_were_assigned_as_a_whole() -> None:
    """Its intervals take people for independent: beside the study's own results the desk told the same difference as far surer."""
    sections = {"planned_participants": 48, "unit": "cluster", "sections": ["1", "2", "3", "4"], "block_multiples": [1]}
    source = open_source(allocation=sections)
    browser = logged_in(source.study.owner)
    (answer, *_others) = [name for name in columns_of(source) if name.startswith("answer.")]
    assert "True answers of honest people" not in text_of(browser.get(address(source)))
    assert "Sections were assigned as a whole." in text_of(browser.post(address(source), {"true_yes": answer}))
    asked = reverse("analysis:api_analytics_questions", args=[source.study.slug])
    refused = browser.post(asked, {"question": {"kind": "true_yes", "answer": answer}}, content_type="application/json")
    assert (refused.status_code, Charge.objects.exists()) == (400, False)


def test_named_answers_are_columns_too_and_the_die_is_inverted_for_each_of_them() -> None:
    """The histogram is that of the database, the inversion the library's, both free; by a background answer it costs."""
    source = open_source(questions=with_frequency(cheaters="never"))
    browser, study = logged_in(source.study.owner), source.study
    definition = protocol_in_force(study).definition
    assert columns_of(source)["answer.copying"].values == ("never", "once", "often")
    page = browser.get(address(source, kind="histogram", by="arm", by2="answer.copying", exact="epsilon", epsilon="1", show="1"))
    assert "This is free: the die protects these answers already." in text_of(page)
    (document,) = page_of(page).xpath("//input[@name='document']/@value")
    browser.post(address(source), {"document": document})
    browser.post(address(source), {"true_yes": "answer.copying"})
    for asking in Asking.objects.all():
        work_on(asking)
    assert [(charge.rho_units, charge.epsilon_units) for charge in Charge.objects.all()] == [(0, 0), (0, 0)]
    counts, inverted = (charge.asking.released for charge in Charge.objects.order_by("number"))
    said = category_counts(study, definition)["copying"]
    found = {tuple(cell["labels"]): cell["value"] for cell in counts["cells"]}
    for arm, name in enumerate(("slides", "instructor")):
        assert [found[name, answer] for answer in ("never", "once", "often")] == said.sum(axis=1)[arm].tolist()
    expected = estimate_categories(said, design=definition.category_design(definition.category_questions[0]))
    shares = [one for one in (*expected.prevalence, *expected.effects) if one.measure == "category"]
    assert [cell["value"] for cell in inverted["cells"]] == [one.value for one in shares]
    assert [cell["labels"][1] for cell in inverted["cells"]] == 3 * ["never", "once", "often"]
    words = text_of(browser.get(address(source)))
    assert "The share of every true answer to “How often did you copy an answer this term?” among honest people" in words
    assert "More often" in words
    by_background = next(name for name in columns_of(source) if name.startswith("background"))
    costs = text_of(
        browser.get(address(source, kind="histogram", by=by_background, by2="answer.copying", exact="epsilon", epsilon="1", show="1"))
    )
    assert "It costs ε = 1" in costs


def test_exact_answers_before_and_after_a_withdrawal_differ_by_ten_people_or_more() -> None:
    """The difference of two free answers hides who left among nine others of the same group; no other group moves."""
    source = open_source()
    browser = logged_in(source.study.owner)
    (answer, *_others) = [name for name in columns_of(source) if name.startswith("answer.")]

    def people_by_arm(epsilon: str) -> dict[str, float]:
        page = browser.get(address(source, kind="histogram", by="arm", by2=answer, exact="epsilon", epsilon=epsilon, show="1"))
        (document,) = page_of(page).xpath("//input[@name='document']/@value")
        browser.post(address(source), {"document": document})
        charge = Charge.objects.latest("number")
        work_on(charge.asking)
        charge.asking.refresh_from_db()
        cells = charge.asking.released["cells"]
        return {arm: sum(cell["value"] for cell in cells if arm in cell["labels"]) for arm in ("slides", "instructor")}

    before = people_by_arm("1")
    withdraw(source)
    make_snapshot(source)
    after = people_by_arm("2")  # another document, so that the stored answer does not serve
    left, stayed = sorted((before[arm] - after[arm] for arm in before), reverse=True)
    assert left >= 10
    assert stayed == 0


def test_a_question_that_mixes_reported_answers_with_others_is_not_free() -> None:
    source = open_source()
    (answer, *_others) = [name for name in columns_of(source) if name.startswith("answer.")]
    fields = typed(source) | {f"where.{answer}": "yes"}
    assert "It costs ε = 0.2" in text_of(logged_in(source.study.owner).get(address(source, **fields)))


def test_the_quiz_score_counts_right_answers_and_choices_are_yes_or_no() -> None:
    source = open_source()
    table = table_of(source, 1)
    assert table is not None
    rows = library_table(table)
    items = [column.name for column in table.schema.columns if column.name.startswith("quiz.")]
    assert (rows.arrays[SCORE] == sum((table.right_answers(item) == 1).astype(int) for item in items)).all()
    assert set(rows.arrays) == set(columns_of(source))
    for name in rows.arrays:
        assert rows.arrays[name].shape[0] == table.n


def test_who_may_ask_and_who_may_not() -> None:
    source = open_source()
    study = source.study
    for role, status in ((MemberRole.EDITOR, 200), (MemberRole.ANALYST, 200), (MemberRole.VIEWER, 404), (MemberRole.BLINDED_VIEWER, 404)):
        member = person(Role.ANALYST)
        StudyMember.objects.create(study=study, user=member, role=role)
        browser = logged_in(member)
        assert browser.get(address(source)).status_code == status
        document = {"document": json.dumps({"kind": "count", "epsilon": 0.01, **documents(source)["count"]})}
        assert browser.post(address(source), document).status_code == (302 if status == 200 else 404)
    for outsider in (person(Role.IRB_OFFICER), person(Role.INVESTIGATOR)):
        assert logged_in(outsider).get(address(source)).status_code == 404
    assert Charge.objects.count() == 1, "the same question again is free"


def test_programs_preview_spend_and_read() -> None:
    source = open_source()
    client = logged_in(source.study.owner)
    questions, preview = (reverse(f"analysis:api_analytics_{name}", args=[source.study.slug]) for name in ("questions", "preview"))
    question = {"kind": "count", **documents(source)["count"]}
    shown = client.post(preview, {"question": question, "error": 20}, content_type="application/json").json()
    assert (shown["free"], shown["asked_before"], shown["obstacle"]) == (False, False, "")
    assert shown["error"] == pytest.approx(20)
    assert (shown["pure_epsilon_left_after"] is None) == (shown["pure_epsilon"] is not None)
    assert not Charge.objects.exists()
    asked = client.post(questions, {"question": shown["question"]}, content_type="application/json").json()
    assert (asked["number"], asked["state"], asked["answer"]) == (1, "reserved", None)
    work_on(Asking.objects.get())
    (answer,) = client.get(questions).json()
    assert answer["answer"]["unit"] == "people"
    assert answer["answer"]["privacy"]["epsilon"] == pytest.approx(shown["pure_epsilon"])
    bad = client.post(preview, {"question": {"kind": "count", "epsilon": 1, "where": []}}, content_type="application/json")
    assert bad.status_code == 400
    assert bad.json()["detail"].startswith("expected at least one condition: how many there are in all is public")
    (die,) = [name for name in columns_of(source) if name.startswith("answer.")][:1]
    free = client.post(questions, {"question": {"kind": "true_yes", "answer": die}}, content_type="application/json")
    assert free.status_code == 200
    assert Charge.objects.get(number=2).epsilon_units == 0
    assert budget_of(source).charges.count() == 2
