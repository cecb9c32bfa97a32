"""The work on a release survives its workers and the broker, and races have one outcome each."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.urls import reverse
from kombu.exceptions import OperationalError

from accounts.models import Role
from analysis.models import Release
from analysis.packages.errors import ReleaseError
from analysis.releases import building, services
from analysis.releases.people import people_sha256
from audit.models import Entry
from jobs import heartbeats, tasks
from surveys.batches.rules import LEAST
from surveys.journey import services as participation
from surveys.journey.services import JourneyError
from surveys.models import Participant, Study
from surveys.tokens import hash_of_withdrawal_code
from tests.factories import logged_in, page_of, person
from tests.heartbeats import wait_for_a_beat
from tests.jobs import attempt, catch, claimed, fall_silent, swept, work_on
from tests.releases import CHOICES, PEOPLE, SITE, built_release, closed_study, package_of, requested_release, rows_in, started_release
from tests.simultaneous import outcomes_at_once

pytestmark = pytest.mark.django_db
CODE = "AAAA-BBBB-CCCC-DDDD"


@pytest.fixture
def study() -> Study:
    study = closed_study()
    one = Participant.objects.filter(study=study).values_list("pk", flat=True)[0]
    Participant.objects.filter(pk=one).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    return study


def killed_after_the_rows(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that drew the rows and then stopped sending heartbeats."""

    def killed(*arguments: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(building, "_content_of", killed)
        with pytest.raises(SystemExit):
            work_on(release)


def test_a_worker_that_takes_over_keeps_the_rows_and_their_order(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    release = started_release(study)
    killed_after_the_rows(release, monkeypatch)
    release.refresh_from_db()
    drawn, people = bytes(release.data or b""), release.people_sha256
    assert (release.status, release.stage, bool(drawn)) == ("building", "results", True)
    fall_silent(release)
    assert swept(catch(monkeypatch), "release") == [str(release.pk)]
    work_on(release)
    release.refresh_from_db()
    assert (release.status, release.attempts, release.people_sha256) == ("built", 2, people)
    assert drawn.decode().split("\\n")[1:4] == [",".join(row.values()) for row in rows_in(release)[:3]]
    assert release.data is None


def test_a_package_that_is_deleted_before_it_is_built_is_made_again(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who is held back from the numbers withdraws: that deletes it, and changes nobody in it."""
    release, compared = started_release(study), building.compared_people
    with monkeypatch.context() as patch:
        patch.setattr(building, "compared_people", lambda one: (Release.objects.update(package=None), compared(one))[1])
        work_on(release)
    assert list(Release.objects.values_list("status", "data")) == [("queued", None)]


def test_the_page_says_how_far_it_is(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """The view of somebody who looks at that moment, at every step of the worker."""
    release, client, seen = started_release(study), logged_in(study.owner), []
    reach = building._reach
    address = reverse("analysis:releases_one", args=[study.slug, release.pk])

    def look() -> None:
        page = page_of(client.get(address))
        assert page.xpath("//*[@hx-get]/@hx-get") == [address]
        seen.append((page.xpath("string(//progress/@value)"), page.xpath('normalize-space(//label[@for="progress"])')))

    def reach_and_look(release: Release, stage: str) -> None:
        reach(release, stage)
        look()

    monkeypatch.setattr(building, "_reach", reach_and_look)
    taken = claimed(release)
    look()
    attempt(taken)
    assert [value for value, _words in seen] == ["0", "2", "2", "2", "3"]
    assert [words.split(".")[0] for _value, words in seen[::2]] == [
        "Drawing the rows in random order",
        "The rows are drawn and their order is fixed",
        "Writing the files, and computing every number again from them",
    ]
    assert not page_of(client.get(address)).xpath("//progress | //*[@hx-get]")


def test_a_worker_at_work_is_left_alone_and_after_five_it_is_given_up(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    release = started_release(study)
    killed_after_the_rows(release, monkeypatch)
    sent = catch(monkeypatch)
    fall_silent(release, seconds=Release.TERM.total_seconds() - 5)
    assert swept(sent, "release") == []
    fall_silent(release)
    Release.objects.update(attempts=5)
    assert swept(sent, "release") == []
    release.refresh_from_db()
    assert (release.status, release.data, release.error) == ("failed", None, "Given up after 5 workers fell silent.")


@pytest.mark.usefixtures("postgresql")
@pytest.mark.parametrize("work", ["_draw_rows", "_content_of", "recomputation"])
def test_a_worker_that_works_for_long_is_heard_of(study: Study, monkeypatch: pytest.MonkeyPatch, work: str) -> None:
    monkeypatch.setattr(heartbeats, "BEAT_SECONDS", 0.05)
    quick_work = getattr(building, work)

    def long_work(argument: Any) -> Any:
        wait_for_a_beat(Release.objects.filter(status="building"), "due_at")
        return quick_work(argument)

    monkeypatch.setattr(building, work, long_work)
    release = started_release(study)
    work_on(release)
    release.refresh_from_db()
    assert release.status == "built"


def test_a_worker_that_comes_back_late_changes_nothing(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    release = started_release(study)
    late = claimed(release)
    fall_silent(release)
    tasks.sweep()
    work_on(release)
    before = Release.objects.values().get()
    attempt(late)
    assert Release.objects.values().get() == before


def test_a_task_that_comes_twice_builds_once(study: Study) -> None:
    release = built_release(study)
    package = package_of(release)
    work_on(release)
    assert package_of(release) == package


def test_a_bug_fails_the_release_and_is_raised(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(building, "recomputation", broken)
    release = started_release(study)
    with pytest.raises(ZeroDivisionError):
        work_on(release)
    release.refresh_from_db()
    assert (release.status, release.error, release.data) == ("failed", "ZeroDivisionError: a bug", None)


def test_numbers_that_do_not_follow_from_the_files_stop_the_release(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    content_of = building._content_of

    def wrong(release: Release) -> Any:
        content = content_of(release)
        content.results["outcomes"]["attention"]["effects"][0]["honest_times_effect"]["value"] += 1e-8
        return content

    monkeypatch.setattr(building, "_content_of", wrong)
    release = started_release(study)
    work_on(release)
    release.refresh_from_db()
    assert release.status == "failed"
    assert release.error.startswith("1 of ")


def test_a_broker_that_is_away_leaves_it_to_the_sweep(study: Study, committed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def away(**message: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(tasks.work, "apply_async", away)
    with committed():
        release = services.start_release(study, choices=CHOICES, site=SITE, actor=study.owner)
    assert swept(catch(monkeypatch), "release") == [str(release.pk)]


@pytest.mark.usefixtures("postgresql")
@pytest.mark.parametrize("attempt", range(3))
def test_two_approvals_at_once_publish_once(study: Study, attempt: int) -> None:
    release = requested_release(study)
    officers = [person(Role.IRB_OFFICER) for _ in range(4)]
    outcomes = outcomes_at_once(*(partial(services.approve, release, actor=officer) for officer in officers))
    assert [one for one in outcomes if one is True] == [True]
    assert [type(one) for one in outcomes if one is not True] == [ReleaseError] * 3
    assert Entry.objects.filter(action="release.published").count() == 1
    release.refresh_from_db()
    assert (release.status, release.decided_by in officers) == ("published", True)


@pytest.mark.usefixtures("postgresql")
@pytest.mark.parametrize("attempt", range(6))
def test_a_withdrawal_and_an_approval_at_once_leave_nobody_in_public_who_withdrew(study: Study, attempt: int) -> None:
    release, officer = requested_release(study), person(Role.IRB_OFFICER)
    withdrawn, approved = outcomes_at_once(
        partial(participation.withdraw, study, code=CODE), partial(services.approve, release, actor=officer)
    )
    release.refresh_from_db()
    if approved is True:
        assert isinstance(withdrawn, JourneyError)
        assert (release.status, len(rows_in(release))) == ("published", PEOPLE)
        assert Study.objects.get(pk=study.pk).data_published
    else:
        assert withdrawn
        assert approved is False or isinstance(approved, ReleaseError)
        assert (release.status, release.package) == ("outdated", None)
        assert not Study.objects.get(pk=study.pk).data_published


@pytest.mark.usefixtures("postgresql")
@pytest.mark.parametrize("delay", [0.0, 0.01, 0.05, 0.1, 0.2, 0.4])
def test_a_withdrawal_during_a_build_is_never_in_what_can_be_approved(study: Study, delay: float) -> None:
    release = started_release(study)
    pause = threading.Event()

    def withdraw() -> bool:
        pause.wait(delay)
        return participation.withdraw(study, code=CODE) is not None

    withdrawn, _built = outcomes_at_once(withdraw, lambda: work_on(release))
    assert withdrawn
    building.discard_all_outdated()
    release.refresh_from_db()
    if release.status == "queued":
        work_on(release)
        release.refresh_from_db()
    if release.status == "built":
        assert (len(rows_in(release)), release.people_sha256) == (PEOPLE - LEAST, people_sha256(study, simulated=False))
    else:
        assert (release.status, release.package, release.data) == ("outdated", None, None)
