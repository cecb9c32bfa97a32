"""The ledger: what is reserved, drawn, answered and returned, and what it refuses."""

import re
import traceback
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.utils import DatabaseError

from accounts.models import Role
from analysis.ledger import answering, services
from analysis.ledger.accounts import account_of, spent
from analysis.ledger.answering import BrokenQuestionError
from analysis.ledger.errors import LedgerError, QuestionError
from analysis.ledger.questions import KINDS
from analysis.ledger.selectors import asked_before, preview
from analysis.ledger.units import UNITS, Units, rounded_down
from analysis.models import Asking, Budget, Charge, ChargeStep, Snapshot
from analysis.sources.services import delete_rows, store_rows
from analysis.sources.tables import Table
from audit.models import Entry
from candor.privacy.conversion import rho_within
from candor.privacy.losses import Loss
from jobs import tasks
from surveys.retention.services import forget_operational_data
from tests.factories import person
from tests.jobs import claimed, fall_silent, held, work_on
from tests.ledgers import (
    Solved,
    analyst_of,
    asked_and_answered,
    brought,
    budget_of,
    open_source,
    quiz_table,
    solved,
)

pytestmark = pytest.mark.django_db


def test_a_question_is_reserved_drawn_and_answered() -> None:
    source = open_source()
    asked = services.ask(source, solved(rho=0.001), actor=source.study.owner)
    assert (asked.state, asked.waits) == ("reserved", True)
    assert spent(budget_of(source)) == Units(rho=UNITS // 1000, epsilon=None)
    work_on(asked.charge.asking)
    [answered] = asked_before(budget_of(source))
    assert (answered.state, answered.waits) == ("answered", False)
    assert set(answered.answer) == {"people", "noise_sd", "of"}
    assert answered.answer["of"] == 96
    assert [step.reached for step in answered.charge.steps.all()] == ["drawn", "answered"]
    assert Entry.objects.filter(action="ledger.question_asked", subject_id=str(source.study_id)).count() == 1


def test_the_same_question_again_gets_the_stored_answer_and_costs_nothing() -> None:
    source = open_source()
    first = asked_and_answered(source, rho=0.001)
    analyst = analyst_of(source, person(Role.ANALYST))
    again = services.ask(source, {"rho": 0.001, "marker": "", "item": "quiz.groups", "kind": "solved"}, actor=analyst)
    assert (again.charge.pk, again.answer, again.charge.asking.due_at) == (first.charge.pk, first.answer, None)
    assert Charge.objects.count() == 1
    asked_and_answered(source, rho=0.001, marker="another question")
    assert Charge.objects.count() == 2


def test_what_does_not_fit_is_refused_with_what_is_left() -> None:
    source = open_source()
    most = budget_of(source).rho_units / UNITS
    services.ask(source, solved(rho=most), actor=source.study.owner)
    with pytest.raises(LedgerError, match=r"costs ρ = 0\.000001\. The rest is ρ = 0, or ε = 0 for one question"):
        services.ask(source, solved(rho=1e-6), actor=source.study.owner)
    assert preview(source, solved(rho=1e-6)).obstacle
    assert Charge.objects.count() == 1


def test_pure_questions_may_use_the_whole_of_epsilon() -> None:
    source = open_source()
    for place in range(10):
        services.ask(source, solved(epsilon=0.1, marker=str(place)), actor=source.study.owner)
    account = account_of(budget_of(source))
    assert account.spent.epsilon == account.epsilon == UNITS
    assert account.spent.rho > account.rho
    assert account.epsilon_spent == 1.0
    for price in ({"epsilon": 1e-9}, {"rho": 1e-9}):
        with pytest.raises(LedgerError):
            services.ask(source, solved(**price), actor=source.study.owner)


def test_a_question_about_what_the_die_protects_is_free_even_when_nothing_is_left() -> None:
    source = open_source()
    services.ask(source, solved(rho=budget_of(source).rho_units / UNITS), actor=source.study.owner)
    services.freeze(source, reason="Enough.", actor=person(Role.IRB_OFFICER))
    assert asked_and_answered(source).state == "answered"


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({}, "Expected one of the kinds"),
        ({"kind": "guess"}, "found guess"),
        ({"kind": "solved"}, "item: this part is missing"),
        (solved(rho="much"), "rho: "),
        (solved(rho=0.1, colour="red"), "colour: there is no part of this name"),
        (solved(item="quiz.unknown"), "expected a quiz item"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_in_words(document: dict[str, Any], expected: str) -> None:
    source = open_source()
    with pytest.raises(QuestionError, match=expected):
        services.ask(source, document, actor=source.study.owner)
    with pytest.raises(QuestionError, match=expected):
        preview(source, document)
    assert not Charge.objects.exists()


def test_a_failure_before_the_noise_returns_the_charge(monkeypatch: pytest.MonkeyPatch) -> None:
    source = open_source()
    asked = services.ask(source, solved(rho=0.001), actor=source.study.owner)
    monkeypatch.setattr(Solved, "exact", failing)
    with pytest.raises(BrokenQuestionError) as broken:
        work_on(asked.charge.asking)
    assert "a bug" not in "".join(traceback.format_exception(broken.value)), "its words may be those of a row, and this may be asked again"
    [returned] = asked_before(budget_of(source))
    assert returned.state == "returned"
    assert re.fullmatch(r"BrokenQuestionError: ZeroDivisionError at test_ledger\.py:\d+", returned.reason)
    assert spent(budget_of(source)) == Units()
    monkeypatch.undo()
    assert asked_and_answered(source, rho=0.001).charge.number == 2
    assert spent(budget_of(source)) == Units(rho=UNITS // 1000, epsilon=None), "the first is returned, the second is not"


def test_a_question_of_a_newer_version_waits_for_its_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    source = open_source()
    asked = services.ask(source, solved(rho=0.001), actor=source.study.owner)
    monkeypatch.delitem(KINDS, "solved")
    for _ in range(Asking.MOST_ATTEMPTS + 1):
        work_on(asked.charge.asking)
    waiting = Asking.objects.get()
    assert (waiting.status, waiting.holder, waiting.attempts, waiting.error) == ("waiting", None, 0, "")
    assert not ChargeStep.objects.exists()
    assert spent(budget_of(source)).rho == UNITS // 1000
    monkeypatch.undo()
    work_on(waiting)
    [answered] = asked_before(budget_of(source))
    assert answered.state == "answered"


def test_a_failure_after_the_charge_was_drawn_leaves_it_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    source = open_source()
    asked = services.ask(source, solved(rho=0.001), actor=source.study.owner)
    monkeypatch.setattr(Solved, "release", failing)
    with pytest.raises(ZeroDivisionError):
        work_on(asked.charge.asking)
    [drawn] = asked_before(budget_of(source))
    assert (drawn.state, drawn.waits) == ("drawn", False)
    assert spent(budget_of(source)).rho == UNITS // 1000
    monkeypatch.undo()
    assert asked_and_answered(source, rho=0.001).charge.number == 2
    assert spent(budget_of(source)).rho == 2 * UNITS // 1000


def test_an_answer_that_could_not_be_written_is_written_when_the_question_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    source = open_source()
    asked = services.ask(source, solved(rho=0.001), actor=source.study.owner)
    monkeypatch.setattr(Solved, "explain", failing)
    with pytest.raises(ZeroDivisionError):
        work_on(asked.charge.asking)
    released = Asking.objects.get().released
    monkeypatch.undo()
    monkeypatch.setattr(Solved, "release", failing)
    monkeypatch.setattr(Solved, "exact", failing)
    answered = asked_and_answered(source, rho=0.001)
    assert (answered.charge.number, answered.state, answered.answer) == (1, "answered", {**released, "of": 96})
    assert spent(budget_of(source)).rho == UNITS // 1000


def failing(*arguments: object) -> None:
    raise ZeroDivisionError("a bug")


def test_a_worker_that_lost_its_question_while_it_computed_draws_no_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    source = open_source()
    asked = services.ask(source, solved(rho=0.001), actor=source.study.owner)
    exact = Solved.exact

    def late(question: Solved, table: Table) -> Any:
        monkeypatch.undo()
        Asking.objects.update(**held())  # another worker has it
        return exact(question, table)

    monkeypatch.setattr(Solved, "exact", late)
    work_on(asked.charge.asking)
    assert asked_before(budget_of(source))[0].state == "reserved"
    fall_silent(asked.charge.asking)
    tasks.sweep()
    work_on(asked.charge.asking)
    assert asked_before(budget_of(source))[0].state == "answered"


@pytest.mark.parametrize(
    ("price", "loss"),
    [({"rho": 0.001}, Loss.zcdp(0.0011)), ({"epsilon": 0.1}, Loss.zcdp(0.004)), ({"epsilon": 0.1}, Loss(0.004, 0.11))],
    ids=["more", "not pure", "more of a sum"],
)
def test_noise_that_costs_more_than_its_price_gives_no_answer(price: dict[str, float], loss: Loss, monkeypatch: pytest.MonkeyPatch) -> None:
    source = open_source()
    asked = services.ask(source, solved(**price), actor=source.study.owner)
    monkeypatch.setattr(Solved, "release", lambda question, exact: ({"people": [1]}, loss))
    with pytest.raises(answering.OverchargedError):
        work_on(asked.charge.asking)
    [drawn] = asked_before(budget_of(source))
    assert (drawn.state, drawn.answer) == ("drawn", None)


def test_once_the_data_are_deleted_answers_stay_and_new_questions_are_refused() -> None:
    source = open_source()
    answered = asked_and_answered(source, rho=0.001)
    waiting = services.ask(source, solved(rho=0.002), actor=source.study.owner)
    forget_operational_data(source.study)
    source.refresh_from_db()
    source.study.refresh_from_db()
    assert list(Snapshot.objects.values_list("status", "data")) == [("deleted", None)]
    assert services.ask(source, solved(rho=0.001), actor=source.study.owner).answer == answered.answer
    with pytest.raises(LedgerError, match="data are deleted"):
        services.ask(source, solved(rho=0.003), actor=source.study.owner)
    work_on(waiting.charge.asking)
    assert asked_before(budget_of(source))[1].state == "returned"


def test_a_study_without_a_budget_has_no_source_and_a_running_one_neither() -> None:
    from tests.factories import recruiting_study
    from tests.releases import closed_study

    closed_study()
    recruiting_study(slug="another-study", privacy_budget={"epsilon": 1.0, "delta": 1e-6})
    assert not Snapshot.objects.exists()
    assert not Budget.objects.exists()


def test_no_noise_is_drawn_for_a_question_that_waits_when_the_budget_is_frozen() -> None:
    source, officer = open_source(), person(Role.IRB_OFFICER)
    waiting = services.ask(source, solved(rho=0.001), actor=source.study.owner)
    services.freeze(source, reason="A complaint.", actor=officer)
    work_on(waiting.charge.asking)
    [returned] = asked_before(budget_of(source))
    assert (returned.state, "A complaint." in returned.reason) == ("returned", True)
    assert spent(budget_of(source)) == Units()
    services.unfreeze(source, actor=officer)
    again = services.ask(source, solved(rho=0.001), actor=source.study.owner)
    work_on(again.charge.asking)
    assert asked_before(budget_of(source))[-1].state == "answered"


def test_an_officer_freezes_a_budget_and_lets_it_be_spent_again() -> None:
    source, officer = open_source(), person(Role.IRB_OFFICER)
    answered = asked_and_answered(source, rho=0.001)
    with pytest.raises(LedgerError, match="reason"):
        services.freeze(source, reason="  ", actor=officer)
    services.freeze(source, reason="A complaint.", actor=officer)
    with pytest.raises(LedgerError, match="froze this budget: A complaint"):
        services.ask(source, solved(rho=0.002), actor=source.study.owner)
    assert services.ask(source, solved(rho=0.001), actor=source.study.owner).answer == answered.answer
    services.unfreeze(source, actor=officer)
    assert asked_and_answered(source, rho=0.002).state == "answered"
    assert list(Entry.objects.filter(action__startswith="ledger.").order_by("sequence").values_list("action", flat=True)) == [
        "ledger.question_asked",
        "ledger.frozen",
        "ledger.unfrozen",
        "ledger.question_asked",
    ]


def test_a_budget_becomes_smaller_but_never_smaller_than_what_is_spent_and_never_larger() -> None:
    source, officer = open_source(), person(Role.IRB_OFFICER)
    services.ask(source, solved(rho=0.005), actor=source.study.owner)
    with pytest.raises(LedgerError, match="at least what is spent"):
        services.lower(source, epsilon=0.3, delta=1e-6, actor=officer)
    with pytest.raises(LedgerError, match="at most ε = 1"):
        services.lower(source, epsilon=1.5, delta=1e-6, actor=officer)
    services.lower(source, epsilon=0.5, delta=1e-6, actor=officer)
    assert budget_of(source).epsilon == 0.5
    with pytest.raises(LedgerError):
        services.ask(source, solved(rho=0.02), actor=source.study.owner)


def test_a_budget_is_lowered_to_the_very_sum_that_is_spent_and_raised_in_neither_number() -> None:
    source, officer = open_source(), person(Role.IRB_OFFICER)
    services.ask(source, solved(epsilon=0.5), actor=source.study.owner)
    for epsilon, delta in ((1.0, 1e-5), (1.0, -1e-9), (0.0, 1e-6)):
        with pytest.raises(LedgerError, match="at most ε = 1"):
            services.lower(source, epsilon=epsilon, delta=delta, actor=officer)
    with pytest.raises(LedgerError, match="at least what is spent"):
        services.lower(source, epsilon=0.4999, delta=1e-6, actor=officer)
    for _twice in range(2):
        services.lower(source, epsilon=0.5, delta=0.0, actor=officer)
    told = [one.details for one in Entry.objects.filter(action="ledger.lowered").order_by("sequence")]
    assert told == [{"epsilon": [1.0, 0.5], "delta": [1e-6, 0.0]}, {"epsilon": [0.5, 0.5], "delta": [0.0, 0.0]}]


def test_what_was_spent_as_rho_bounds_a_lower_budget_as_rho() -> None:
    source, officer = open_source(), person(Role.IRB_OFFICER)
    rho = rho_within(0.5, 1e-6)
    services.ask(source, solved(rho=rounded_down(rho) / UNITS), actor=source.study.owner)
    with pytest.raises(LedgerError, match="at least what is spent"):
        services.lower(source, epsilon=0.4999, delta=1e-6, actor=officer)
    services.lower(source, epsilon=0.5, delta=1e-6, actor=officer)
    account = account_of(budget_of(source))
    assert (account.rho_left, account.rho) == (0, account.spent.rho)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE analysis_charge SET rho_units = 0",
        "DELETE FROM analysis_charge",
        "UPDATE analysis_chargestep SET reached = 'returned'",
        "DELETE FROM analysis_chargestep",
        "UPDATE analysis_budget SET rho_units = rho_units + 1",
        "UPDATE analysis_budget SET epsilon = 2",
        "DELETE FROM analysis_budget",
    ],
)
def test_the_database_refuses_to_rewrite_a_ledger(change: str) -> None:
    source = open_source()
    asked_and_answered(source, rho=0.001)
    refused = pytest.raises(DatabaseError, match=r"can be neither changed nor deleted|neither grow nor be deleted")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(change)
    assert spent(budget_of(source)).rho == UNITS // 1000


def test_the_database_refuses_a_charge_that_is_drawn_and_returned_or_answered_twice() -> None:
    source = open_source()
    charge = asked_and_answered(source, rho=0.001).charge
    for place, reached, answer in ((1, "returned", None), (2, "answered", {"people": 1}), (2, "returned", None), (1, "answered", 1)):
        with pytest.raises(IntegrityError), transaction.atomic():
            ChargeStep.objects.create(charge=charge, place=place, reached=reached, answer=answer, reached_on=charge.asked_on)


def test_work_that_is_given_up_before_the_noise_returns_its_charge() -> None:
    source = open_source()
    asked = services.ask(source, solved(rho=0.001), actor=source.study.owner)
    for _ in range(Asking.MOST_ATTEMPTS):
        claimed(asked.charge.asking)
        fall_silent(asked.charge.asking)
        tasks.sweep()
    [returned] = asked_before(budget_of(source))
    assert (returned.state, "Given up" in returned.reason) == ("returned", True)


def test_a_data_set_is_asked_like_a_study() -> None:
    source = brought("a-test")
    with pytest.raises(LedgerError, match="being made"):
        services.ask(source, solved(rho=0.001), actor=source.whole.owner)
    store_rows(source, quiz_table(19))
    with pytest.raises(LedgerError, match="at least 20 students to ask about, found 19"):
        services.ask(source, solved(rho=0.001), actor=source.whole.owner)
    store_rows(source, quiz_table(400, right=300))
    answered = asked_and_answered(source, rho=0.005)
    assert (answered.charge.snapshot, answered.answer["of"]) == (2, 400)
    assert abs(answered.answer["people"][0] - 300) <= 8 * answered.answer["noise_sd"]


def test_each_source_spends_its_own_budget_and_tells_of_its_own_rows() -> None:
    """Attack: what was spent, frozen, lowered or deleted elsewhere must not count here, nor the other way round."""
    one, other, officer = brought("one"), brought("other"), person(Role.IRB_OFFICER)
    store_rows(one, quiz_table(400, right=400))
    asked_and_answered(one, epsilon=0.75)
    store_rows(other, quiz_table(500))
    answered = asked_and_answered(other, epsilon=0.75)
    assert (answered.charge.number, answered.answer["of"], answered.answer["people"][0] < 200) == (1, 500, True)
    assert [spent(budget_of(source)).epsilon for source in (one, other)] == [UNITS * 3 // 4] * 2
    services.freeze(one, reason="Enough.", actor=officer)
    assert ["Enough." in preview(source, solved(epsilon=0.25)).obstacle for source in (one, other)] == [True, False]
    delete_rows(one)
    assert asked_and_answered(other, epsilon=0.25).state == "answered"
    store_rows(one, quiz_table(400))
    services.unfreeze(one, actor=officer)
    with pytest.raises(LedgerError, match="not frozen"):
        services.unfreeze(one, actor=officer)
    services.lower(one, epsilon=0.875, delta=1e-6, actor=officer)
    assert [budget_of(source).epsilon for source in (one, other)] == [0.875, 1.0]
    with pytest.raises(LedgerError, match=r"ε = 0\.25\. The rest is .* ε = 0\.125 for one"):
        services.ask(one, solved(epsilon=0.25), actor=one.whole.owner)


def test_a_delta_that_would_allow_somebodys_row_to_be_published_is_refused() -> None:
    source = open_source(delta=1e-4)
    schema = services.table_now(source)[1]
    columns = {column.name: column.empty(1000) for column in schema.columns}
    store_rows(source, Table(schema=schema, n=1000, arrays=columns))
    with pytest.raises(LedgerError, match=r"δ below 1 in 10,000, ten times the students; the budget has δ = 0\.0001"):
        services.ask(source, solved(rho=0.001), actor=source.whole.owner)
