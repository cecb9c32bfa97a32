"""Data sets for tests: files, and a data set that was brought by the form of its page."""

import io
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.models import Role, User
from analysis.data_sets import services
from analysis.data_sets.retention import usual_day
from analysis.models import DataSet, Source
from analysis.sources.brought import BroughtColumn, BroughtTable, BroughtTexts, ColumnRole
from surveys.questions.plans import PrivacyBudget
from tests.factories import person

ITEMS = ("q1", "q2", "q3")
BUDGET = PrivacyBudget(epsilon=1.0, delta=1e-6)
TOPICS = {"recursion": ["recursion", "base case"], "exam": ["exam", "test"]}


def quiz_file(n: int = 60, *, key: str = "s{}") -> str:
    """Keys, three items, a major and a grade of `n` students."""
    rows = [f"{key.format(i)},{i % 2},{int(i % 3 > 0)},{'' if i % 7 == 0 else 1},{('law', 'art')[i % 2]},{i % 5}" for i in range(n)]
    return "\n".join(["id,q1,q2,q3,major,grade", *rows]) + "\n"


def texts_file(n: int = 40, *, key: str = "s{}", text: str = "I love recursion! The exam was terrible.") -> str:
    rows = [f'{key.format(i)},{week},"{text if i % 2 else "Nothing."}"' for i in range(n) for week in (1, 2)]
    return "\n".join(["student,week,text", *rows]) + "\n"


TABLE = BroughtTable(
    columns=[
        BroughtColumn(name="id", role=ColumnRole.STUDENT),
        *(BroughtColumn(name=name, role=ColumnRole.ITEM) for name in ITEMS),
        BroughtColumn(name="major", role=ColumnRole.CATEGORY, values=("law", "art")),
        BroughtColumn(name="grade", role=ColumnRole.NUMBER, minimum=0, maximum=4),
    ]
)
TEXTS = BroughtTexts(
    names=["student", "week", "text"], roles={"student": "student", "week": "week", "text": "text"}, topics=TOPICS, weeks=2, cap=1
)
TYPED_TABLE = {
    "title": "Marks of a course",
    "about": "From another university; the students agreed.",
    "delete_on": f"{usual_day()}",
    "kind": "table",
    "header": "id,q1,q2,q3,major,grade",
    "others": "item",
    "role-0": "student",
    "role-4": "category",
    "declared-4": "law, art",
    "role-5": "number",
    "declared-5": "0, 4",
    "action": "bring",
}
TYPED_TEXTS = {
    "title": "Diaries of a term",
    "about": "From another university; the students agreed.",
    "delete_on": f"{usual_day()}",
    "kind": "texts",
    "header": "student,week,text",
    "role-0": "student",
    "role-1": "week",
    "role-2": "text",
    "language": "en",
    "weeks": "2",
    "cap": "1",
    "words": "recursion: recursion, base case\nexam: exam, test",
    "action": "bring",
}


def bring(client: Client, typed: dict[str, Any], file: str | bytes) -> Any:
    """Send the form of a new data set."""
    content = file.encode() if isinstance(file, str) else file
    return client.post(reverse("analysis:bring_data"), {**typed, "file": SimpleUploadedFile("data.csv", content)})


def data_set(owner: User | None = None, *, brought: Any = TABLE, file: str = "", title: str = "Marks of a course") -> DataSet:
    """A data set as it was brought; without a file, of 60 students."""
    written = (file or (quiz_file() if brought is TABLE else texts_file())).encode()
    owner = owner or person(Role.INVESTIGATOR)
    return services.bring(brought, io.BytesIO(written), title=title, about="From elsewhere.", delete_on=usual_day(), actor=owner)


def named(made: DataSet, analyst: User) -> None:
    """Invite somebody, who accepts."""
    invitation, _token = services.invite_analyst(made, addressee=analyst.username, actor=made.owner)
    services.accept_invitation(invitation, user=analyst)


def approved(owner: User | None = None, *, analysts: tuple[User, ...] = (), officer: User | None = None, **changes: Any) -> Source:
    """The source of an approved data set."""
    made = data_set(owner, **changes)
    for analyst in analysts:
        named(made, analyst)
    services.submit(made, budget=BUDGET, delete_on=usual_day(), actor=made.owner)
    seen, day, officer = [analyst.pk for analyst in analysts], str(usual_day()), officer or person(Role.IRB_OFFICER)
    services.approve(made, budget=(BUDGET.epsilon, BUDGET.delta), delete_on=day, analysts=seen, actor=officer)
    return Source.objects.get(data_set=made)
