"""The house stays small enough to be understood: how many rooms an answer enters, and how many a release is built in."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from analysis.models import ReleaseStatus, RunKind
from analysis.runs.runner import queue_run
from candor.estimators import effects
from tests.audits.tree import APPLICATIONS, LIBRARY, ROOT
from tests.factories import ANSWERS, recruiting_study, send, walk
from tests.finished_people import add_finished_people
from tests.jobs import work_off
from tests.releases import closed_study, started_release

PRODUCTION = tuple(str(ROOT / folder) + "/" for folder in (LIBRARY, *APPLICATIONS))
VIEW, WORK = "surveys/journey/step_views.py", "analysis/runs/runner.py"
ROOMS_OF_AN_ANSWER = 8
ROOMS_OF_A_RELEASE = {"applications": 11, LIBRARY: 10}


def rooms_on(frame: FrameType | None) -> list[str]:
    """The modules of production code on the stack, outermost first, each once."""
    found = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(PRODUCTION):
            found.append(str(Path(frame.f_code.co_filename).relative_to(ROOT)))
        frame = frame.f_back
    return list(dict.fromkeys(reversed(found)))


@contextmanager
def who_touches(table: str) -> Iterator[list[list[str]]]:
    """The rooms on the way to each statement about a table."""
    ways: list[list[str]] = []

    def look(execute: Any, sql: str, *arguments: Any) -> Any:
        if f'"{table}"' in sql:
            ways.append(rooms_on(sys._getframe()))
        return execute(sql, *arguments)

    with connection.execute_wrapper(look):
        yield ways


@pytest.mark.django_db
def test_an_answer_enters_at_most_eight_rooms_from_view_to_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    study, client = recruiting_study(allocation={"planned_participants": 600}), Client()
    walk(client, study, until="questions")
    estimated: list[list[str]] = []
    checked_counts = effects.checked_counts

    def look(*arguments: Any, **options: Any) -> Any:
        estimated.append(rooms_on(sys._getframe()))
        return checked_counts(*arguments, **options)

    monkeypatch.setattr(effects, "checked_counts", look)
    with who_touches("surveys_response") as written:
        send(client, study, "questions", **ANSWERS["questions"])
    add_finished_people(study, 300, counted=False)  # with the answer, a batch is complete
    run = queue_run(study.pk, kind=RunKind.FIRST_RESULTS)
    assert run is not None
    with who_touches("surveys_response") as read:
        work_off(run)
    assert written
    assert read
    assert estimated
    # The code above the view, such as middleware, is the same for every page and sees no answer. So is the lease above the work.
    from_view = [way[way.index(VIEW) :] for way in written]
    from_work = [way[way.index(WORK) :] for way in (*read, *estimated)]
    rooms = {room for way in (*from_view, *from_work) for room in way}
    assert {VIEW, "candor/estimators/effects.py"} <= rooms
    assert len(rooms) <= ROOMS_OF_AN_ANSWER, sorted(rooms)


@pytest.mark.django_db
def test_a_release_is_built_in_at_most_eleven_rooms_and_ten_of_the_library() -> None:
    """Here a room is a folder: every folder in which a function runs counts, down to the library."""
    release = started_release(closed_study())
    rooms: set[str] = set()

    def look(frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        # Only functions are optimised: what runs while a module is imported is no function.
        if event == "call" and code.co_flags & CO_OPTIMIZED and code.co_filename.startswith(PRODUCTION):
            rooms.add(str(Path(code.co_filename).relative_to(ROOT).parent))

    sys.setprofile(look)
    try:
        work_off(release)
    finally:
        sys.setprofile(None)
    release.refresh_from_db()
    assert release.status == ReleaseStatus.BUILT
    assert {"analysis/releases", "analysis/packages", "candor/packages"} <= rooms
    of_library = {room for room in rooms if room.split("/")[0] == LIBRARY}
    assert len(rooms - of_library) <= ROOMS_OF_A_RELEASE["applications"], sorted(rooms - of_library)
    assert len(of_library) <= ROOMS_OF_A_RELEASE[LIBRARY], sorted(of_library)
