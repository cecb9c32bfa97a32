"""The differencing auditor: polls every address as everybody who may ask, and looks for two answers whose difference is a few people.

Between any two participants every answer is the same to the byte, but for the number of people until the next batch. At the moments at
which numbers may move (a batch, an amendment, the end) each number of people stays or moves by ten or more.
"""

import csv
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from copy import deepcopy
from itertools import combinations
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html

from accounts.models import User
from analysis import services as analysis
from analysis.models import Release, Run, RunStatus
from audit.models import Entry
from surveys.batches import services as batches
from surveys.batches.rules import LEAST
from surveys.batches.services import keep_shown_numbers, show_who_is_on_the_way
from surveys.journey import services as participation
from surveys.models import Participant, Step, Study
from surveys.review.services import approve
from surveys.studies import services as studies
from surveys.tokens import hash_of_withdrawal_code
from tests.audits.test_permissions import client_of, own_routes, people, shared
from tests.audits.who_may_enter import ARGUMENTS, EVERYWHERE, RECRUITING, VISITORS
from tests.categories import PROBATION, with_frequency
from tests.factories import ANSWERS, logged_in, recruiting_study, walk
from tests.finished_people import TELLING_DIE, add_finished_people, count_everybody
from tests.jobs import catch, work_off
from tests.releases import PEOPLE, built_release, closed_study, published_release, rows_in
from tests.surfaces import FIGURES, MAY_MOVE, TABLES, nothing_stays
from tests.surveys import one_arm

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
fixtures = (people,)
READERS = ("nobody", "owner", "blinded", "officer", "administrator")
BUILDING = ("surveys:build", "analysis:build", "analysis:plan", "analysis:study_plan", "surveys:new", "surveys:import", "surveys:duplicate")
"""Pages of drafts and plans: polled as one reader each."""
ONES_OWN = ("account", "mfa")
"""Secrets of one's own account, drawn anew each time."""
LOGS = ("log", "surveys:study_log", "decisions")
"""They tell of what the auditor and its officer do; that participants leave nothing in them is held by the number of entries."""
HEADS = ("subsample,arm", "day,consented")
"""How the tables begin that count people."""
NOT_PEOPLE = re.compile(
    r"^count$|run$|failed$|replicates$|df$|seed|version|id$|until_next|percent|planned|days_left|number|minutes|seconds|batch"
)
Answers = dict[tuple[str, str], bytes]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> None:
    catch(monkeypatch)


@pytest.fixture
def study(people: dict[str, User]) -> Study:
    allocation = {"planned_participants": 480, "block_multiples": [1]}
    questions = [*with_frequency()[:3], with_frequency()[-1], PROBATION]
    made = recruiting_study(owner=people["owner"], allocation=allocation, die=TELLING_DIE, subgroups=["gender"], questions=questions)
    return shared(made, people)


class Auditor:
    """Remembers every answer, and names the pairs that tell too much."""

    def __init__(self, study: Study, people: Mapping[str, User], *, readers: Sequence[str] = READERS) -> None:
        self.study = study
        self.cookies = {reader: client_of(reader, dict(people)).cookies for reader in readers}
        self.addresses = {reader: dict(self._addresses(reader)) for reader in readers}

    def _addresses(self, reader: str) -> Iterator[tuple[str, str]]:
        parameters = own_routes()
        for name, outcomes in {**EVERYWHERE, **RECRUITING}.items():
            alike = name.startswith(BUILDING) and reader != "owner"
            if outcomes[VISITORS.index(reader)] != 200 or alike or name.startswith(ONES_OWN) or name.split(":")[-1].endswith(LOGS):
                continue
            given: dict[str, Any] = {"slug": self.study.slug, **ARGUMENTS}
            several = {"figure": FIGURES} if "figure" in parameters[name] else {"table": TABLES} if "table" in parameters[name] else {}
            for parameter, values in several.items() or [("", ("",))]:
                for value in values:
                    chosen = {**given, parameter: value}
                    yield f"{name} {value}".strip(), reverse(name, kwargs={one: chosen[one] for one in parameters[name]})

    def poll(self, *, at: Set[tuple[str, str]] | None = None, browser: Callable[[], Client] = Client) -> Answers:
        """Every answer; or those at some places, as where there are numbers to compare with."""
        found = {}
        for reader, addresses in self.addresses.items():
            client = browser()  # a new one would start the middleware for each address
            for name, address in addresses.items():
                if at is not None and (reader, name) not in at:
                    continue
                client.cookies = deepcopy(self.cookies[reader])
                response = client.get(address)
                body = response.content if not response.streaming else b"".join(response.streaming_content)
                found[reader, name] = b"%d %s" % (response.status_code, body)
        return found

    def differences(self, before: Answers, after: Answers) -> list[str]:
        """The answers that are not the same."""
        return [f"{name} as {reader}" for (reader, name), body in after.items() if _constant(body) != _constant(before[reader, name])]

    def small_steps(self, before: Answers, after: Answers, *, first_numbers: bool = False) -> list[str]:
        """Numbers of people that moved by fewer than `LEAST`; with `first_numbers` those are left out that were 0 before."""
        found = []
        for reader, name in after.keys() & before.keys():
            if _constant(before[reader, name]) == _constant(after[reader, name]):
                continue
            then, now = dict(_numbers(before[reader, name])), dict(_numbers(after[reader, name]))
            for place in then.keys() & now.keys():
                moved = abs(now[place] - then[place])
                if 0 < moved < LEAST and not (first_numbers and not then[place]):
                    found.append(f"{name} as {reader}: {place} from {then[place]} to {now[place]}")
        return found


def numbers_in(*looks: Answers) -> set[tuple[str, str]]:
    """The places at which one of these looks found a number."""
    return {place for look in looks for place, body in look.items() if any(_numbers(body))}


def _constant(body: bytes) -> str:
    _status, _space, content = body.partition(b" ")
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return repr([(name, archive.read(name)) for name in archive.namelist()])
    text = body.decode("utf-8", "replace")
    for moving in MAY_MOVE:
        text = moving.sub("", text)
    return text


def _numbers(body: bytes) -> Iterator[tuple[str, int]]:
    """The whole numbers of an answer by their places: in JSON, in CSV, in cells, facts and figures of a page."""
    status, _space, content = body.partition(b" ")
    text = content.decode("utf-8", "replace")
    if status != b"200" or not text.strip():
        return
    if text.lstrip().startswith(("{", "[")):
        yield from _in_json(json.loads(text), "")
    elif text.lstrip().startswith("<"):
        tree = html.fromstring(content)
        for element in tree.xpath("//dd | //td | //*[local-name()='text']"):
            words = " ".join(element.text_content().split())
            if found := re.fullmatch(r"(\d+)( did not agree| took their data out)?", words):
                yield tree.getroottree().getpath(element), int(found[1])
    elif text.splitlines()[0].startswith(HEADS):
        rows = list(csv.reader(io.StringIO(text)))
        keys = [name for name in rows[0] if name in ("day", "subsample", "arm")]
        for row in rows[1:]:
            place = "/".join(value for name, value in zip(rows[0], row, strict=False) if name in keys)
            yield from ((f"{place}/{name}", int(value)) for name, value in zip(rows[0], row, strict=False) if value.isdigit())


def _in_json(part: object, place: str) -> Iterator[tuple[str, int]]:
    if isinstance(part, dict):
        for name, value in part.items():
            yield from () if NOT_PEOPLE.search(name) else _in_json(value, f"{place}/{name}")
    elif isinstance(part, list):
        for number, value in enumerate(part):
            yield from _in_json(value, f"{place}/{number}")
    elif isinstance(part, int) and not isinstance(part, bool):
        yield place, part


def computed(study: Study) -> None:
    """As at the end of a journey: a complete batch is counted, and everything that waits is computed."""
    analysis.refresh_when_answers_change(Study, study_id=study.pk)
    while (run := Run.objects.filter(study=study, status=RunStatus.QUEUED).order_by("pk").first()) is not None:
        work_off(run)
    show_who_is_on_the_way(study)
    study.refresh_from_db()


def come(study: Study, people: int, *, seed: int) -> None:
    add_finished_people(study, people, seed=seed, counted=False, unfinished=0.1)
    computed(study)


def withdraws(study: Study, *, counted: bool, finished: bool = True) -> None:
    withdrawn(study, counted=counted, finished=finished)
    computed(study)


def withdrawn(study: Study, *, counted: bool, finished: bool = True) -> None:
    alike = Participant.objects.filter(study=study, counted=counted)
    gone = (alike.filter(step=Step.FINISHED) if finished else alike.filter(step=Step.QUIZ)).first()
    assert gone is not None
    code = "0123-4567-89AB-CDEF"
    Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code(code))
    assert participation.withdraw(study, code=code)


def declines(study: Study) -> None:
    participation.decline(study, version=1)


def leaves_in_the_middle(study: Study) -> None:
    walk(Client(), study, until="quiz")


def misunderstands_and_finishes(study: Study) -> None:
    client = Client()
    walk(client, study, until="die")
    participation.count(participation.Count(study.pk, participation.CounterKind.COMPREHENSION_FAILED, 1))
    walk(Client(), study, answers=ALL_ANSWERS)


ALL_ANSWERS = {"questions": {**ANSWERS["questions"], "answer-copying": "2", "answer-probation": "1"}}
ONE_PERSON: tuple[Callable[[Study], None], ...] = (declines, leaves_in_the_middle, misunderstands_and_finishes)


def test_between_two_people_nothing_moves_and_at_every_other_moment_ten_or_more(study: Study, people: dict[str, User]) -> None:
    auditor = Auditor(study, people)
    come(study, 130, seed=1)
    batch = auditor.poll()
    assert Run.objects.filter(status=RunStatus.DONE, n__gt=0).exists(), "there are numbers to follow"
    entries = Entry.objects.count()
    for act in (*ONE_PERSON, misunderstands_and_finishes):  # more people finish than leave
        act(study)
        computed(study)
    assert Entry.objects.count() == entries
    withdraws(study, counted=False)
    assert auditor.differences(batch, auditor.poll()) == []

    come(study, 90, seed=2)
    second = auditor.poll()
    assert auditor.differences(batch, second) != []
    told = {"a batch": auditor.small_steps(batch, second)}

    withdraws(study, counted=True)
    owner = logged_in(people["owner"])
    tables = {owner.get(address).status_code for name, address in auditor.addresses["owner"].items() if name.startswith("analysis:table")}
    assert tables == {404}, "there are no numbers until the next batch"
    come(study, 90, seed=3)
    third = auditor.poll()
    told["before and after a withdrawal"] = auditor.small_steps(second, third)

    approve(studies.submit_for_review(study, actor=study.owner), actor=people["officer"], reason="A die that says much.")
    computed(study)
    told["an amendment"] = auditor.small_steps(third, auditor.poll(at=numbers_in(third)))

    studies.close(Study.objects.get(pk=study.pk), actor=study.owner)
    study.refresh_from_db()
    analysis.refresh_when_everyone_is_counted(Study, study_id=study.pk)
    computed(study)
    ended = auditor.poll()
    told["the end"] = auditor.small_steps(third, ended, first_numbers=True)
    withdraws(study, counted=True)
    then = auditor.poll(at=numbers_in(ended))
    told["a withdrawal after the end"] = auditor.small_steps(ended, then)
    withdraws(study, counted=True, finished=False)
    told["a withdrawal of somebody who had stopped"] = auditor.small_steps(then, auditor.poll(at=numbers_in(then)))
    assert [f"{moment}: {one}" for moment, found in told.items() for one in found] == []


def test_a_survey_of_one_group_tells_nothing_of_one_person_either(people: dict[str, User]) -> None:
    """With one arm a number of everybody is a number of its group. As the owner, who sees most."""
    allocation = {"planned_participants": 240, "block_multiples": [1]}
    survey = shared(recruiting_study(owner=people["owner"], **one_arm(allocation=allocation)), people)
    auditor = Auditor(survey, people, readers=("owner",))
    come(survey, 90, seed=1)
    batch = auditor.poll()
    assert Run.objects.filter(status=RunStatus.DONE, n__gt=0).exists(), "there are numbers to follow"
    for act in ONE_PERSON:
        act(survey)
        computed(survey)
    withdraws(survey, counted=False)
    assert auditor.differences(batch, auditor.poll()) == []
    come(survey, 70, seed=2)
    second = auditor.poll()
    assert auditor.differences(batch, second) != []
    told = {"a batch": auditor.small_steps(batch, second)}
    studies.close(Study.objects.get(pk=survey.pk), actor=survey.owner)
    survey.refresh_from_db()
    analysis.refresh_when_everyone_is_counted(Study, study_id=survey.pk)
    computed(survey)
    ended = auditor.poll()
    told["the end"] = auditor.small_steps(second, ended, first_numbers=True)
    withdraws(survey, counted=True)
    told["a withdrawal after the end"] = auditor.small_steps(ended, auditor.poll(at=numbers_in(ended)))
    assert [f"{moment}: {one}" for moment, found in told.items() for one in found] == []


def renewed_at_once(study: Study) -> None:
    keep_shown_numbers(study, shown_as=int)


def test_no_number_moves_by_a_few_people_while_a_large_study_is_counted_after_the_end(
    study: Study, people: dict[str, User], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between any two parts, also if somebody who was shown leaves between them, and somebody who was not."""
    for name, few in (("FEW", 0), ("HELD_AT_ONCE", 10), ("WAIT_UNTIL_THE_END", 2 * LEAST)):
        monkeypatch.setattr(batches, name, few)
    auditor = Auditor(study, people, readers=("owner", "nobody"))
    come(study, 130, seed=1)
    come(study, 100, seed=2)
    shown = auditor.poll()
    studies.close(Study.objects.get(pk=study.pk), actor=study.owner)
    with nothing_stays():
        batches.count_people_of_closed_studies()
        computed(study)
        numbered = numbers_in(shown, auditor.poll())
    study.refresh_from_db()
    between, count = [auditor.poll(at=numbered)], batches._count

    def count_and_look(*given: Any, **named: Any) -> None:
        count(*given, **named)
        if Study.objects.filter(pk=study.pk, numbers_withheld=True).exists():
            between.append(auditor.poll(at=numbered))
            if len(between) in (3, 5):
                withdraws(study, counted=len(between) == 3)
                between.append(auditor.poll(at=numbered))

    monkeypatch.setattr(batches, "_count", count_and_look)
    batches.count_people_of_closed_studies()
    monkeypatch.setattr(batches, "_count", count)
    assert len(between) > 5, "there were several parts"
    study.refresh_from_db()
    assert not study.numbers_withheld
    computed(study)
    ended = auditor.poll(at=numbered)
    told = {f"part {number}": auditor.small_steps(one, ended, first_numbers=True) for number, one in enumerate([*between, shown])}
    told |= {f"before part {number}": auditor.small_steps(shown, one) for number, one in enumerate(between)}
    assert [f"{moment}: {one}" for moment, found in told.items() for one in found] == []


@pytest.mark.parametrize("mistake", [count_everybody, renewed_at_once])
def test_the_auditor_notices_numbers_that_follow_one_person(
    study: Study, people: dict[str, User], mistake: Callable[[Study], None]
) -> None:
    """The code of before: everybody is counted at once, or numbers are shown as they are."""
    auditor = Auditor(study, people)
    auditor.addresses = {"owner": {name: auditor.addresses["owner"][name] for name in ("surveys:study", "analysis:api_counts")}}
    add_finished_people(study, 130, seed=1, counted=False)
    mistake(study)
    for act in ONE_PERSON:
        before = auditor.poll()
        act(study)
        mistake(study)
        after = auditor.poll()
        assert set(auditor.differences(before, after)) == {"surveys:study as owner", "analysis:api_counts as owner"}, act.__name__
        assert auditor.small_steps(before, after) != [], act.__name__


def people_of(release: Release) -> Counter[tuple[str, str]]:
    """How many people of each group stand in the package."""
    return Counter((row["subsample"], row["arm"]) for row in rows_in(release))


def steps_between(releases: Sequence[Counter[tuple[str, str]]]) -> list[int]:
    """By how many people the groups of any two packages differ."""
    pairs = combinations(releases, 2)
    return sorted({abs(one[group] - other[group]) for one, other in pairs for group in one | other})


def packages_between_withdrawals(study: Study) -> list[Counter[tuple[str, str]]]:
    """Somebody who may build releases keeps each package, and has the last two published."""
    found = []
    for _person in range(2):
        found.append(people_of(built_release(study)))
        withdraws(study, counted=True)
    return [*found, *(people_of(published_release(study)) for _version in range(2))]


def test_any_two_releases_differ_by_nobody_or_ten_people(db: None) -> None:
    """Groups are so large that they stand although both who leave may be of the same one."""
    packages = packages_between_withdrawals(closed_study(people=2 * PEOPLE))
    assert steps_between(packages) in ([0, LEAST], [0, LEAST, 2 * LEAST])
    assert packages[-1] == packages[-2], "nobody leaves what is published"


def test_releases_of_everybody_would_tell_who_left(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(participation, "hide_withdrawal", lambda study, *, withdrawn, leaving: None)
    assert 1 in steps_between(packages_between_withdrawals(closed_study()))
