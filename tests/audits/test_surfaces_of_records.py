"""Student records that differ in one student: what tells it is the package, for those who may read it, and what was tried and built for it,
for its owner and the officer who decides.

A package has the classes of that student, and the numbers of its page are about the records as they were. Everything else is the same to
the byte: pages, lists, the log, metrics, mails, and records of which nothing was built yet.
"""

from pathlib import Path

import pytest

from accounts.models import User
from analysis.models import DataSet, RecordSweep
from analysis.records.services import try_data_set
from tests.audits.test_permissions import people as people
from tests.jobs import catch, work_off
from tests.record_sets import STUDENTS, built, courses_file, published, record_set, requested, students_file
from tests.surfaces import Seen, Surfaces, moved_places, taken_back

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mail_server")]
BROUGHT, TRIED, BUILT, WAITING, PUBLIC = TITLES = "Brought", "Tried", "Built", "Waiting", "Public"
READERS = ("nobody", "owner", "colleague", "officer", "administrator")
TOLD = {
    TRIED: {"owner"},
    BUILT: {"owner"},
    WAITING: {"owner", "officer"},
    PUBLIC: {*READERS},
}
"""The readers of each data set who see more than that it is there."""
PACKAGE, ITS_PAGE = "analysis:public_records_package", "analysis:public_records"
"""Everybody reads these of what is published. On the page the numbers of two packages may be equal."""


class Worlds:
    """Makes worlds of records in every state, and looks at them."""

    def __init__(self, people: dict[str, User], tmp_path: Path) -> None:
        self.people, self.tmp_path, self.made = people, tmp_path, 0
        slugs = [title.lower() for title in TITLES]
        self.surfaces = Surfaces(people, readers=READERS, programs=("owner", "officer", "administrator"), data_set=slugs)

    def look(self, n: int, courses: str) -> Seen:
        """A look at a world of so many students with these courses, from which nothing stays."""
        self.made += 1
        with taken_back(self.tmp_path / str(self.made)):
            owner, files = self.people["owner"], {"students.csv": students_file(n), "maths.csv": courses}
            made = {title: record_set(owner, files={**files}, title=title) for title in TITLES}
            try_data_set(made[TRIED], actor=owner)
            work_off(RecordSweep.objects.get())
            built(made[BUILT])
            requested(made[WAITING])
            published(made[PUBLIC], self.people["officer"])
            assert DataSet.objects.count() == len(TITLES)
            return self.surfaces.look()


def test_one_student_is_told_by_packages_and_what_was_tried_alone(
    people: dict[str, User], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catch(monkeypatch)
    worlds, courses = Worlds(people, tmp_path), courses_file()
    other = courses.replace("s7,CS201,B", "s7,CS201,D")
    assert other != courses
    before = worlds.look(STUDENTS, courses)
    places = moved_places(before, worlds.look(STUDENTS, other))
    told: dict[str, set[str]] = {}
    for reader, place in places:
        told.setdefault(place.rpartition(" ")[2].capitalize(), set()).add(reader.removeprefix("a program of "))
    assert told == TOLD
    seen_by_all = {place.split()[-2] for reader, place in places if reader in ("nobody", "colleague")}
    assert {PACKAGE} <= seen_by_all <= {PACKAGE, ITS_PAGE}

    one_more = moved_places(before, worlds.look(STUDENTS + 1, courses_file(STUDENTS + 1)))
    assert {("owner", "GET analysis:data_set_records brought"), ("officers", "log")} <= one_more, "the number of students is noticed"
