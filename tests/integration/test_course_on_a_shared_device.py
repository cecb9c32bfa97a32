"""Two students of a course at one browser, one after the other: neither comes into the other's journey or learns whether there was one."""

from collections.abc import Callable

import pytest
from django.test import Client

from surveys.counts import exact_counts
from surveys.journey.visitors import COOKIE
from surveys.models import Participant, Study
from surveys.retention.services import forget_operational_data
from surveys.studies.services import close
from surveys.tokens import withdrawal_code
from tests.course_students import hand_in, launch, study_with_credit, waiting, words
from tests.course_students import platform as platform
from tests.factories import address_of, answer, everything_stored, heading, hidden_value, participant_of, token_of, walk
from tests.lti_platform import INSTRUCTOR, CoursePlatform

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("study")]  # before a platform, so that its rows are written again
WELCOME = "A short lecture and four honest answers"


@pytest.fixture
def study() -> Study:
    return study_with_credit()


def begins(client: Client, study: Study) -> None:
    answer(client, study, "welcome")


def stops_in_the_middle(client: Client, study: Study) -> None:
    walk(client, study, until="quiz")


def finishes(client: Client, study: Study) -> None:
    walk(client, study)


def withdraws(client: Client, study: Study) -> None:
    walk(client, study, until="quiz")
    client.post(f"{address_of(study)}withdraw/", {"code": withdrawal_code(token_of(client)), "stage": "confirm"})


def only_looks(client: Client, study: Study) -> None:
    client.get(address_of(study))


def takes_the_credit_alone(client: Client, study: Study) -> None:
    hand_in(client, study, action="without")


BEFORE = (begins, stops_in_the_middle, finishes, withdraws, takes_the_credit_alone)


def seen_by_the_next(platform: CoursePlatform, study: Study, before: Callable[[Client, Study], None]) -> list[str]:
    """All pages that the next student gets who opens the activity in this browser."""
    client = Client()
    launch(client, platform, study, sub=f"ada-{before.__name__}")
    before(client, study)
    launch(client, platform, study, sub="ben")
    addresses = (f"/credit/{study.slug}/", address_of(study), f"{address_of(study)}withdraw/", f"{address_of(study)}somebody-else/")
    return [words(client.get(address)) for address in addresses]


def test_the_next_student_sees_the_same_whatever_the_one_before_did(platform: CoursePlatform, study: Study) -> None:
    expected = seen_by_the_next(platform, study, only_looks)
    assert WELCOME in expected[1]
    assert {before.__name__: seen_by_the_next(platform, study, before) for before in BEFORE} == {one.__name__: expected for one in BEFORE}


def test_a_tab_of_the_student_before_answers_for_nobody_else(platform: CoursePlatform, study: Study) -> None:
    client, tabs = Client(), []
    for sub in ("ada", "ben"):
        launch(client, platform, study, sub=sub)
        tabs.append(hidden_value(walk(client, study, until="quiz"), "whose"))
    assert heading(answer(client, study, "quiz", whose=tabs[0])) == "This page belongs to somebody else"
    assert participant_of(client).step == "quiz"
    assert answer(client, study, "quiz", whose=tabs[1]).status_code == 303


def test_the_next_student_takes_part_as_a_person_of_their_own(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    launch(client, platform, study, sub="ada")
    walk(client, study, until="quiz")
    ada, token = participant_of(client), token_of(client)
    launch(client, platform, study, sub="ben")
    walk(client, study)
    assert participant_of(client) != ada
    assert [Participant.objects.get(pk=ada.pk).step, Participant.objects.count()] == ["quiz", 2]
    launch(client, platform, study, sub="ada")
    client.post(f"{address_of(study)}resume/{token}/")
    assert heading(client.get(address_of(study))) == "A short quiz", "by the personal link"


def test_a_student_who_is_forgotten_half_way_counts_as_somebody_who_stopped(platform: CoursePlatform, study: Study) -> None:
    """Nothing of the course is in their row, which goes with the operational data; they begin anew as another person."""
    client = Client()
    for sub, until in (("olga", "quiz"), ("ben", "finished"), ("olga", "finished")):
        launch(client, platform, study, sub=sub)
        walk(client, study, until=until)
    counts = exact_counts(study)
    assert (counts.consented, counts.assigned, counts.finished) == (3, 3, 2)
    (left,) = Participant.objects.exclude(step="finished")
    assert [left.credit, left.finished_on, left.quiz] == ["", None, {}]
    assert "olga" not in repr([one.__dict__ for one in Participant.objects.all()])
    forget_operational_data(close(study, actor=study.owner))
    assert Participant.objects.count() == 2
    assert exact_counts(study).consented == 3


@pytest.mark.parametrize("before", [stops_in_the_middle, finishes])
def test_a_student_who_opens_the_activity_again_goes_on(
    platform: CoursePlatform, study: Study, before: Callable[[Client, Study], None]
) -> None:
    client = Client()
    launch(client, platform, study, sub="ada")
    before(client, study)
    shown = heading(client.get(address_of(study)))
    launch(client, platform, study, sub="ada")
    assert heading(client.get(address_of(study))) == shown != WELCOME


def test_a_student_who_began_by_a_link_and_then_opens_the_activity_goes_on(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    walk(client, study, until="quiz")
    launch(client, platform, study, sub="ada")
    assert heading(client.get(address_of(study))) == "A short quiz"


def test_a_teacher_who_looks_takes_nobody_out_of_their_journey(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    launch(client, platform, study, sub="ada")
    walk(client, study, until="quiz")
    launch(client, platform, study, sub="grace", role=INSTRUCTOR)
    launch(client, platform, study, sub="ada")
    assert heading(client.get(address_of(study))) == "A short quiz"


def test_a_student_of_another_study_takes_nobody_out_of_their_journey(platform: CoursePlatform, study: Study) -> None:
    other, client = study_with_credit(slug="another-study"), Client()
    launch(client, platform, study, sub="ada")
    walk(client, study, until="quiz")
    launch(client, platform, other, sub="ben")
    assert heading(client.get(address_of(study))) == "A short quiz"


def test_withdrawing_by_a_code_leaves_the_other_students_journey_and_both_credits(platform: CoursePlatform, study: Study) -> None:
    ada, client = Client(), Client()
    walk(ada, study, until="quiz")
    code = withdrawal_code(token_of(ada))
    launch(client, platform, study, sub="ben")
    walk(client, study, until="quiz")
    client.post(f"{address_of(study)}withdraw/", {"code": code, "stage": "confirm"})
    assert Participant.objects.get() == participant_of(client)
    assert heading(client.get(address_of(study))) == "A short quiz"
    hand_in(client, study, action="without")
    assert waiting(study) == ["ben"]


def test_the_browser_remembers_students_by_a_hash_that_the_journey_never_gets(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    before = everything_stored()
    opened = launch(client, platform, study, sub="student-zq7marked")
    [cookie] = [one for name, one in opened.cookies.items() if name.startswith("candor_student")]
    assert (cookie["path"], cookie["httponly"]) == ("/lti/launch/", True)
    assert "zq7marked" not in cookie.value
    assert everything_stored().keys() == before.keys()
    assert COOKIE not in opened.cookies
