"""Many students whom a course sends: they take part, hand in their credit at once, and it goes to the platform in batches."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import pytest
from django.test import Client
from django.utils.crypto import salted_hmac

from lti.models import BatchStatus, CreditBatch
from lti.services import let_credit_go
from surveys.batches.order_of_arrival import forget_order_of_days, forget_recent_order
from surveys.batches.services import count_next_batch
from surveys.credit.selectors import bytes_of, text_of, ticket_for
from surveys.credit.services import sign_credit
from surveys.journey import services as participation
from surveys.journey.services import Visit
from surveys.models import CreditBook, Participant, Study
from surveys.tokens import hash_of_token, new_token, withdrawal_code
from tests.categories import PROBATION, with_frequency
from tests.course_students import launch, platform_for_tests, study_with_credit
from tests.credit_tokens import blinding, token
from tests.jobs import attempt, catch, claimed
from tests.linkage.attack import Copy, findings
from tests.linkage.copies import copy_of_postgresql
from tests.linkage.journeys import AT_A_TIME, LEAVE, Truth, Walk
from tests.lti_platform import CoursePlatform

STUDENTS = 300
IN_AN_HOUR = 100


@dataclass
class Course:
    """The platform with its log, and the log of the web server: the rooms that were asked for, in order."""

    platform: CoursePlatform
    web_log: list[str] = field(default_factory=list)
    lines: dict[str, dict[str, int]] = field(default_factory=dict)

    def noted(self, sub: str, what: str, *rooms: str) -> None:
        """A request of this student. The platform knows when it sent whom; so whoever has both logs can tell whose line it is."""
        self.lines.setdefault(sub, {})[f"web log.{what}"] = len(self.web_log)
        self.web_log += rooms


@dataclass(kw_only=True)
class Student(Walk):
    """Somebody whom the course sends, with everything that only their browser knows."""

    course: Course
    browser: Client = field(default_factory=Client)

    def arrive(self) -> None:
        self.course.noted(self.trace, "launch", "/lti", "/lti", "/credit")
        assert launch(self.browser, self.course.platform, self.study, sub=self.trace).status_code == 303

    def get_credit_and_hand_it_in(self) -> None:
        begun = blinding(self.study.course_credit.modulus, self.study.slug)
        ticket = ticket_for(hash_of_token(self.visit.token), self.study.slug)
        signature = sign_credit(self.study, ticket=ticket, blinded=text_of(begun.blinded()))
        self.course.noted(self.trace, "hand in", "/s", "/credit", "/credit")
        mark = salted_hmac("lti.form", self.browser.cookies["candor_credit"].value, algorithm="sha256").hexdigest()
        sent = {"mark": mark, "credit": token(begun, bytes_of(signature))}
        answer = self.browser.post(f"/credit/{self.study.slug}/", sent)
        assert answer.status_code == 303, answer.content


def an_hour_passes(study: Study) -> None:
    count_next_batch(Study.objects.get(pk=study.pk))
    assert forget_recent_order() == []
    let_credit_go()
    for batch in CreditBatch.objects.filter(status=BatchStatus.WAITING):
        attempt(claimed(batch))


def walk_a_course(
    look: Callable[[str, Copy, Truth], None], monkeypatch: pytest.MonkeyPatch, *, seed: int, students: int = STUDENTS
) -> list[str]:
    """Let all students go through, hours and a night pass, and look at everything that is stored anywhere; the students with a score."""
    catch(monkeypatch)
    study = study_with_credit(allocation={"planned_participants": 2 * students}, questions=[*with_frequency(), PROBATION])
    rng = random.Random(seed)
    with platform_for_tests() as platform:
        platform.registered()
        course = Course(platform)
        subs = [f"{rng.getrandbits(60):015x}" for _ in range(students)]
        coming = [Student(study=study, trace=sub, visit=Visit(token=new_token(), language="en"), course=course) for sub in subs]
        everybody, here, done = list(coming), list[Student](), 0
        while coming or here:
            if coming and len(here) < AT_A_TIME:
                coming[0].arrive()
                here.append(coming.pop(0))
            student = here[min(int(rng.expovariate(0.7)), len(here) - 1)]
            if not student.go_on():
                here.remove(student)
                student.get_credit_and_hand_it_in()
                done += 1
                if done % IN_AN_HOUR == 0:
                    an_hour_passes(study)
        an_hour_passes(study)
        for student in rng.sample(everybody, LEAVE):
            participation.withdraw(study, code=withdrawal_code(student.visit.token))
            everybody.remove(student)
        assert forget_recent_order() == []
        truth = {one.trace: Participant.objects.get(token_hash=hash_of_token(one.visit.token)).pk.hex for one in everybody}
        look("after an hour", _copy(course, study, subs), truth)
        assert forget_order_of_days() == []
        look("after a night", _copy(course, study, subs), truth)
        return platform.scores()


def _copy(course: Course, study: Study, subs: list[str]) -> Copy:
    """The database, the platform's log and the web log, as somebody has them who has all three."""
    copy = copy_of_postgresql()
    people: dict[str, dict[str, object]] = {sub: dict(course.lines.get(sub, {})) for sub in subs}
    for entry in course.platform.log:
        if "launch" in entry:
            people[entry["launch"]]["platform.launch"] = entry["number"]
        else:
            people[entry["score"]["userId"]] |= {"platform.score": entry["number"], "platform.time": entry["score"]["timestamp"]}
    book = CreditBook.objects.get(study=study)
    for place in book.waiting:
        people[place["sub"]] |= {f"book.{name}": value for name, value in place.items()} | {"book.place": book.waiting.index(place)}
    return replace(copy, people=people)


def within_batches(copy: Copy, truth: Mapping[str, str]) -> list[str]:
    """The findings among people whose credit came in the same batch, and whose answers entered the shown numbers together."""
    scores = sorted(int(str(row["platform.score"])) for row in copy.people.values() if "platform.score" in row)
    starts = [number for number in scores if number - 1 not in scores]
    groups: dict[tuple[object, object], dict[str, str]] = {}
    for sub, key in truth.items():
        score = copy.people[sub].get("platform.score")
        batch = sum(start <= score for start in starts) if isinstance(score, int) else None
        groups.setdefault((batch, copy.answers[key]["surveys_participant.xmin"]), {})[sub] = key
    return [finding for group in groups.values() for finding in findings(copy, group)]
