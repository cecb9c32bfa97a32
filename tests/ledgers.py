"""A closed study with a privacy budget, and a kind of question that tests ask: how many people solved a quiz item."""

from typing import Any, Literal

import numpy as np
from django.db import transaction

from accounts.models import Role, User
from analysis.ledger.errors import QuestionError
from analysis.ledger.questions import KINDS, Question, question_kind
from analysis.ledger.services import ask, open_budget
from analysis.models import Asking, Budget, DataSet, Snapshot, Source
from analysis.sources.tables import Schema, Table
from candor.privacy.losses import NO_LOSS, Loss
from candor.privacy.noise import discrete_gaussian, discrete_laplace
from candor.privacy.sensitivity import Sensitivity
from surveys.journey.services import _forget_numbers_of
from surveys.models import MemberRole, Participant, Study, StudyMember
from tests.factories import person
from tests.jobs import work_on
from tests.releases import closed_study

EPSILON, DELTA = 1.0, 1e-6


def register() -> None:
    """The tests' own kind of question; once in a process."""
    if "solved" not in KINDS:
        question_kind(Solved)


class Solved(Question):
    """How many people solved a quiz item. `marker` makes different questions of the same one."""

    kind: Literal["solved"] = "solved"
    item: str
    rho: float | None = None
    epsilon: float | None = None
    marker: str = ""

    def price(self, schema: Schema, n: int) -> Loss:
        if self.item not in [column.name for column in schema.columns]:
            raise QuestionError(f"expected a quiz item, found {self.item}")
        if self.rho is not None:
            return Loss.zcdp(self.rho)
        return Loss.pure(self.epsilon) if self.epsilon is not None else NO_LOSS

    def exact(self, table: Table) -> Any:
        return np.array([np.sum(table.right_answers(self.item) == 1)])

    def release(self, exact: Any) -> tuple[Any, Loss]:
        sensitivity = Sensitivity(l1=1, l2_squared=1, linf=1)
        if self.rho is not None:
            noisy = discrete_gaussian(exact, sensitivity=sensitivity, rho=self.rho)
        elif self.epsilon is not None:
            noisy = discrete_laplace(exact, sensitivity=sensitivity, epsilon=self.epsilon)
        else:
            return {"people": exact.tolist()}, NO_LOSS
        return {"people": noisy.values.tolist(), "noise_sd": noisy.noise_sd}, noisy.loss

    def explain(self, released: Any, schema: Schema, n: int) -> Any:
        return {**released, "of": n}


def study_with_budget(*, epsilon: float = EPSILON, delta: float = DELTA, **changes: Any) -> Study:
    """A closed study whose snapshot waits for a worker."""
    register()
    return closed_study(privacy_budget={"epsilon": epsilon, "delta": delta}, **changes)


def open_source(**changes: Any) -> Source:
    """The source of such a study, ready to be asked about."""
    source = Source.objects.get(study=study_with_budget(**changes))
    made = make_snapshot(source)
    assert made.status == "ready", made.error
    return source


def brought(slug: str) -> Source:
    """The source of a data set with the same budget, before it has rows."""
    register()
    source = Source.objects.create(data_set=DataSet.objects.create(slug=slug, title="A test", owner=person(Role.INVESTIGATOR)))
    open_budget(source, epsilon=EPSILON, delta=DELTA)
    return source


def quiz_table(n: int, *, right: int = 0) -> Table:
    """Rows of `n` students, of whom so many solved the item."""
    values = ({"name": "0", "label": "wrong"}, {"name": "1", "label": "right"})
    item = {"name": "quiz.groups", "label": "Groups", "role": "quiz", "kind": "category", "values": values, "right": "1"}
    schema = Schema.model_validate({"columns": [item]})
    rows = schema.columns[0].empty(n)
    rows[:right] = 1
    return Table(schema=schema, n=n, arrays={"quiz.groups": rows})


def make_snapshot(source: Source) -> Snapshot:
    """Do the work on the newest snapshot."""
    snapshot = Snapshot.objects.filter(source=source).latest("number")
    work_on(snapshot)
    snapshot.refresh_from_db()
    return snapshot


def analyst_of(source: Source, user: User) -> User:
    """Somebody who may ask about a study from now on."""
    StudyMember.objects.create(study=source.study, user=user, role=MemberRole.ANALYST)
    return user


def solved(**fields: Any) -> dict[str, Any]:
    return {"kind": "solved", "item": "quiz.groups", **fields}


def asked_and_answered(source: Source, **fields: Any) -> Any:
    """Ask, and have a worker answer it."""
    owner = source.study.owner if source.study else source.data_set.owner
    asked = ask(source, solved(**fields), actor=owner)
    work_on(asked.charge.asking)
    return ask(source, solved(**fields), actor=owner)


def budget_of(source: Source) -> Budget:
    return Budget.objects.get(source=source)


def askings() -> list[Asking]:
    return list(Asking.objects.order_by("pk"))


def withdraw(source: Source) -> None:
    """As the service does it once the person is found."""
    with transaction.atomic():
        someone = Participant.objects.filter(study=source.study, counted=True).first()
        assert someone is not None
        Participant.objects.filter(pk=someone.pk).delete()
        assert source.study is not None
        source.study.refresh_from_db()
        _forget_numbers_of(source.study, someone)
