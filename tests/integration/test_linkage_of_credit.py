"""300 students of a course: their credit arrives, and nothing that anybody stores leads from a student to answers."""

from dataclasses import asdict, replace

import pytest

from lti import services as batches
from surveys.credit import services as credit
from surveys.credit.selectors import Place, trace_of
from surveys.models import CourseCredit, CreditBook, Participant, Study
from tests.linkage.attack import Copy, findings
from tests.linkage.courses import STUDENTS, walk_a_course, within_batches
from tests.linkage.journeys import LEAVE, Truth


def test_the_credit_arrives_and_nobody_is_linked(postgresql: None, monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[str, list[str]] = {}

    def look(stage: str, copy: Copy, truth: Truth) -> None:
        assert len(truth) == STUDENTS - LEAVE
        assert set(truth.values()) <= copy.answers.keys()
        found[stage] = within_batches(copy, truth) if stage == "after an hour" else findings(copy, truth)

    scores = walk_a_course(look, monkeypatch, seed=1)
    assert len(scores) == len(set(scores)) == STUDENTS
    assert found == {"after an hour": [], "after a night": []}


def test_the_attacks_find_a_token_that_is_kept_on_both_sides(postgresql: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the number were signed in clear, noted at the end of the journey, and noted again with the student who brings it."""
    sign, given = credit.sign_credit, dict[str, str]()

    def sign_in_clear(study: Study, *, ticket: str, blinded: str) -> str:
        signature = sign(study, ticket=ticket, blinded=blinded)
        given["newest"] = ticket
        return signature

    def hand_in_noted(study: Study, place: Place, *, handed_in: str) -> None:
        trace = trace_of(CourseCredit.objects.get(study=study), handed_in)
        Participant.objects.filter(token_hash=credit.token_hash_in(given["newest"], study.slug)).update(credit=trace)
        book = CreditBook.objects.get_or_create(study=study)[0]
        book.waiting = [*book.waiting, asdict(replace(place, link=trace))]
        book.save()

    monkeypatch.setattr("tests.linkage.courses.sign_credit", sign_in_clear)
    monkeypatch.setattr("lti.views.hand_in", hand_in_noted)
    monkeypatch.setattr("tests.linkage.courses.let_credit_go", lambda: None)
    found: list[str] = []
    walk_a_course(lambda _stage, copy, truth: found.extend(findings(copy, truth)), monkeypatch, seed=1, students=40)
    assert [one for one in found if one.startswith("book.link = surveys_participant.credit")], found


def test_the_attacks_find_credit_that_goes_in_the_order_of_finishing(postgresql: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if rows stayed where they were written, and credit left in the order in which it came."""
    monkeypatch.setattr(batches.entropy, "sample", lambda places, _count: list(places))
    monkeypatch.setattr(credit, "sorted", lambda values, **_how: list(values), raising=False)
    monkeypatch.setattr("tests.linkage.courses.forget_recent_order", list)
    found: list[str] = []
    walk_a_course(lambda _stage, copy, truth: found.extend(findings(copy, truth)), monkeypatch, seed=1, students=80)
    assert [one for one in found if one.startswith("sorted by platform.score and surveys_participant")], found
