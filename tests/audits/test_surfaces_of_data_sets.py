"""Two data sets that differ in one student: everything that anybody can get of them follows from the answers that were released with noise,
and from what is public.

Each world is brought, approved and asked about from its beginning, and taken back. All worlds release the same numbers, because the noise
could have made them so. Then they must be the same to the byte, whoever looks and wherever.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from accounts.models import Role, User
from accounts.services import create_user
from analysis.data_sets import services
from analysis.data_sets.retention import usual_day
from analysis.learning.questions.kinds import Statistic
from analysis.ledger.errors import LedgerError
from analysis.ledger.questions import KINDS, Question
from analysis.ledger.selectors import asked_with, budget_of
from analysis.ledger.services import ask
from analysis.models import Asking, DataSet, Source
from analysis.sources.brought import Brought, BroughtColumn, BroughtTable, ColumnRole
from analysis.sources.tables import Table
from candor.privacy.losses import Loss
from candor.queries.kinds import KINDS as STATISTICS
from tests.audits.test_permissions import people as people
from tests.data_sets import BUDGET, TEXTS, approved, data_set, named
from tests.jobs import catch, work_on
from tests.surfaces import Seen, Surfaces, moved, moved_places, taken_back

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mail_server")]
N = 60
OF_STUDIES = {"true_yes", "network_degrees", "network_ties", "network_class_means", "network_class_types", "solved"}
"""Kinds of questions that no data set can be asked; the last one is the tests' own."""
WITH_A_PART = ("owner", "officer", "administrator", "asker")
"""The asker is an approved analyst of each data set."""
PROGRAMS = ("owner", "officer", "asker")
WITHOUT = ("nobody", "newcomer")
"""The newcomer accepted to be an analyst, whom nobody has approved yet."""
MARKS, COURSES, DIARIES, WAITING, DELETED = TITLES = "Marks", "Courses", "Diaries", "Waiting", "Deleted"

MAJORS = BroughtColumn(name="major", role=ColumnRole.CATEGORY, values=("law", "art"))
STUDENT = BroughtColumn(name="id", role=ColumnRole.STUDENT)
ONCE = BroughtTable(
    columns=[
        STUDENT,
        *(BroughtColumn(name=name, role=ColumnRole.ITEM) for name in ("q1", "q2", "q3")),
        MAJORS,
        BroughtColumn(name="grade", role=ColumnRole.NUMBER, minimum=0, maximum=4),
    ]
)
OFTEN = BroughtTable(
    columns=[
        STUDENT,
        BroughtColumn(name="course", role=ColumnRole.CATEGORY, values=("logic", "drawing"), several=True),
        BroughtColumn(name="mark", role=ColumnRole.NUMBER, minimum=0, maximum=4, several=True),
    ],
    entries=2,
)
ART, LOGIC = [{"column": "background.major", "in": ["art"]}], [{"column": "background.course", "in": ["logic"]}]
GRADES = {"column": "background.grade", "edges": [1, 2, 3]}
ASKED: dict[str, list[dict[str, Any]]] = {
    "count": [{"where": ART}, {"where": [{"column": "quiz score", "from": 3, "to": 3}]}],
    "share": [{"event": [{"column": "quiz.q1", "in": ["1"]}], "where": ART}],
    "histogram": [{"by": [{"column": "background.major"}, GRADES]}],
    "mean": [{"column": "background.grade", "low": 0, "high": 4, "by": [{"column": "background.major"}]}],
    "sum": [{"column": "background.grade", "low": 0, "high": 4}],
    "quantile": [{"column": "background.grade", "low": 0, "high": 4, "q": 0.5}],
    "most_common": [{"column": "background.major", "where": [{"column": "background.grade", "from": 0, "to": 4}]}],
    "recommendation": [
        {"option": {"column": "background.major"}, "band": GRADES, "success": [{"column": "quiz score", "from": 2, "to": 3}]}
    ],
    "naive_bayes": [{"target": {"column": "background.major"}, "features": [{"column": "quiz.q3"}, GRADES]}],
}
"""Questions about marks, some of each kind of statistic."""
OFTEN_ASKED = [
    {"kind": "count", "where": LOGIC, "entries": 2},
    {"kind": "mean", "column": "background.mark", "low": 0, "high": 4, "by": [{"column": "background.course"}], "entries": 1},
]
TOO_DEAR = {"kind": "count", "where": ART, "epsilon": 9.0}
DOCUMENTS = {
    "analysis:api_data_set_preview": {"question": {"kind": "count", "where": ART, "epsilon": 0.01}},
    "analysis:api_data_set_questions": {"question": TOO_DEAR},
    "analysis:api_data_set_preview_difficulties": {"share": 1, "reason": "For the audit."},
    "analysis:api_data_set_preview_topics": {"epsilon": 0.1},
    "analysis:api_data_set_topics": {"epsilon": 9.0},
}
Rows = dict[str, list[str]]
"""The lines of one student in each kind of file."""
ALONE: Rows = {"once": ["s7,1,0,1,art,4"], "often": ["s7,logic,4"], "texts": ['s7,1,"I love recursion!"']}
"""Nobody else answered the third item, studies art, has a grade or a mark, took logic or wrote about anything."""
LIKE_OTHERS: Rows = {"once": ["s7,1,0,,law,"], "often": ["s7,drawing,"], "texts": ['s7,1,"Nothing."']}
DOUBLED: Rows = {"once": LIKE_OTHERS["once"], "often": ALONE["often"] * 3, "texts": ALONE["texts"] * 2}
"""The same student told something else, and has more rows where there may be several."""


def file_of(rows: Rows, kind: str, *, more: Rows | None = None) -> str:
    """The file of a kind, with the lines of this student among those of 59 others; of one more if `more` are given."""
    head = {"once": "id,q1,q2,q3,major,grade", "often": "id,course,mark", "texts": "student,week,text"}[kind]
    others = {"once": "s{},1,0,,law,", "often": "s{},drawing,", "texts": 's{},1,"Nothing."'}[kind]
    lines = [others.format(one) for one in range(N) if one != 7]
    further = [line.replace("s7", f"s{N}") for line in (more or {}).get(kind, [])]
    return "\n".join([head, *lines[:7], *rows[kind], *lines[7:], *further]) + "\n"


class Worlds:
    """Makes worlds and looks at them. The first one draws its numbers; the others release the same."""

    def __init__(self, people: dict[str, User], tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        self.people, self.tmp_path, self.caplog = people, tmp_path, caplog
        slugs = [title.lower() for title in TITLES]
        self.surfaces = Surfaces(people, readers=(*WITH_A_PART, *WITHOUT), programs=PROGRAMS, documents=DOCUMENTS, data_set=slugs)
        self.released: dict[str, Any] = {}
        self.made = 0

    def look(self, rows: Rows, *readers: str, more: Rows | None = None) -> Seen:
        """A look at a world with these rows of one student, and `more` of another one, from which nothing stays."""
        self.made += 1
        self.caplog.clear()
        with taken_back(self.tmp_path / str(self.made)):
            said, lines = self._world(rows, more), list(self.caplog.messages)
            assert {*DataSet.objects.values_list("title", flat=True)} == {*TITLES}
            return {**self.surfaces.look(*readers), ("asker", "said at once"): said, ("the server", "log"): "\n".join(lines)}

    def _world(self, rows: Rows, more: Rows | None) -> str:
        """All that can become of a data set: asked about, waiting for an officer, deleted while a question waits.
        Gives the words that askers hear.
        """
        once = file_of(rows, "once", more=more)
        marks = self._approved(MARKS, ONCE, once)
        courses = self._approved(COURSES, OFTEN, file_of(rows, "often", more=more))
        diaries = self._approved(DIARIES, TEXTS, file_of(rows, "texts", more=more))
        waiting = data_set(self.people["owner"], brought=ONCE, file=once, title=WAITING)
        services.submit(waiting, budget=BUDGET, delete_on=usual_day(), actor=waiting.owner)
        asked = [(marks, one) for one in asked_about_marks()]
        asked += [(courses, {"kind": "statistic", "question": {**one, "epsilon": 0.1}}) for one in OFTEN_ASKED]
        said = [self._asks(source, document) for source, document in [*asked, (diaries, {"kind": "topics", "epsilon": 0.5})]]
        deleted = self._approved(DELETED, ONCE, once)
        waits = ask(deleted, statistic("count", {"where": ART}), actor=self.people["asker"])
        services.delete(deleted.whole, actor=self.people["owner"])
        work_on(waits.charge.asking)
        refused = [self._refused(marks, {"kind": "statistic", "question": TOO_DEAR}), self._refused(deleted, asked_about_marks()[0])]
        return "\n".join([*said, *refused])

    def _approved(self, title: str, brought: Brought, file: str) -> Source:
        source = approved(
            self.people["owner"], officer=self.people["officer"], analysts=(self.people["asker"],), brought=brought, file=file, title=title
        )
        assert source.data_set is not None
        named(source.data_set, self.people["newcomer"])
        return source

    def _asks(self, source: Source, document: dict[str, Any]) -> str:
        """The state in which a question ends."""
        number = ask(source, document, actor=self.people["asker"]).charge.number
        work_on(Asking.objects.get(charge__number=number, charge__budget__source=source))
        found = asked_with(budget_of(source), number)
        assert found is not None
        return f"{number}: {found.state}{found.reason}"

    def _refused(self, source: Source, document: dict[str, Any]) -> str:
        with pytest.raises(LedgerError) as refused:
            ask(source, document, actor=self.people["asker"])
        return str(refused.value)


@pytest.fixture
def worlds(people: dict[str, User], tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Worlds:
    catch(monkeypatch)
    for name in ("asker", "newcomer"):
        people[name] = create_user(username=name, password=None, role=Role.ANALYST, may_be_reserved=True)
    for name, one in people.items():
        User.objects.filter(pk=one.pk).update(email=f"{name}@example.org")
    caplog.set_level("INFO")
    made = Worlds(people, tmp_path, caplog)
    for kind in set(KINDS.values()):
        monkeypatch.setattr(kind, "release", as_in_the_first_world(kind.release, made.released))
    return made


def statistic(kind: str, question: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "statistic", "question": {"kind": kind, **question, "epsilon": 0.02}}


def asked_about_marks() -> list[dict[str, Any]]:
    """Every kind of statistic, and the difficulties by each mechanism."""
    noise = {"kind": "difficulties", "reason": "For the audit."}
    return [
        *(statistic(kind, question) for kind, questions in ASKED.items() for question in questions),
        {**noise, "rho": 0.001},
        {**noise, "mechanism": "right_and_answered", "rho": 0.001},
        {**noise, "mechanism": "pure_totals_and_scores", "epsilon": 0.02},
    ]


def as_in_the_first_world(
    release: Callable[[Question, object], tuple[object, Loss]], released: dict[str, Any]
) -> Callable[[Question, object], tuple[object, Loss]]:
    """Noise is drawn in every world, and may fail there; the numbers are those that the first world drew, at the same price."""

    def again(question: Question, exact: object) -> tuple[object, Loss]:
        drawn, loss = release(question, exact)
        first, price = released.setdefault(question.sha256, (drawn, loss))
        assert loss == price, "a price follows from what is public"
        return first, price

    return again


def test_every_kind_of_question_is_asked() -> None:
    asked = [*asked_about_marks(), {"kind": "topics"}]
    assert {one["kind"] for one in asked} == set(KINDS) - OF_STUDIES, "a question of each kind, and no other"
    assert {one["question"]["kind"] for one in asked if "question" in one} == set(STATISTICS), "of each kind of statistic, too"


def test_all_that_is_seen_follows_from_the_released_numbers_and_the_number_of_students(worlds: Worlds) -> None:
    """With the same number of students everybody sees the same; another number is for those who may see something of the data sets."""
    before = worlds.look(ALONE)
    assert sum(seen.startswith("200") for seen in before.values()) > 400
    *said, _too_dear, _deleted = before["asker", "said at once"].splitlines()
    assert {line.partition(": ")[2] for line in said} == {"answered"}
    assert moved(before, worlds.look(DOUBLED)) == []
    one_more = worlds.look(ALONE, *WITHOUT, more=LIKE_OTHERS)
    told = {reader for reader, _place in moved_places(before, one_more)}
    assert told == {"officers"}, "their log says how many students a data set has"


def test_a_refusal_that_depends_on_one_student_is_noticed(worlds: Worlds, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = Statistic.exact

    def only_if_somebody_fits(question: Statistic, table: Table) -> tuple[bool, object]:
        found = exact(question, table)
        if not np.any(found[1]):
            raise LedgerError("Nobody fits.")
        return found

    monkeypatch.setattr(Statistic, "exact", only_if_somebody_fits)
    worlds.surfaces.addresses = {name: address for name, address in worlds.surfaces.addresses.items() if "/marks/" in address}
    before = worlds.look(ALONE, *WITHOUT, "asker")
    found = moved(before, worlds.look(LIKE_OTHERS, *WITHOUT, "asker"))
    assert {one.partition(": ")[0] for one in found} >= {"GET analysis:data_set_questions marks as asker", "said at once as asker"}
    assert not [one for one in found if one.partition(": ")[0].endswith(WITHOUT)]
