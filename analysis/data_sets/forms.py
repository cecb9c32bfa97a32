"""The forms of data sets: bringing one, where every column gets its role by hand, and asking for its budget."""

import csv
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import date

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.formats import number_format
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.data_sets.declarations import (
    LONGEST_ABOUT,
    LONGEST_TITLE,
    MOST_ENTRIES,
    MOST_WEEKS,
    columns_of,
    problem_of_bounds,
    problem_of_columns,
    problem_of_entries,
    problem_of_language,
    problem_of_roles,
    problem_of_topics,
    problem_of_values,
)
from analysis.data_sets.retention import typed_day, usual_day
from analysis.data_sets.services import LONGEST_REASON, Bringing
from analysis.sources.brought import Brought, BroughtColumn, BroughtTable, BroughtTexts, ColumnRole
from analysis.sources.records.rows import BroughtRecords
from candor.written_numbers import typed_number
from surveys.drafting.forms import typed_value
from surveys.privacy.budgets import LARGEST_RARITY, USUAL_EPSILON, usual_rarity
from surveys.questions.plans import LARGEST_BUDGET, PEOPLE_PER_FAILURE, PrivacyBudget

KINDS = (
    ("table", gettext_lazy("A table: quiz answers, background, or both")),
    ("texts", gettext_lazy("Texts, of which only topics and affect are kept")),
)
NO_ROLE = ("", gettext_lazy("Choose a role"))
ROLES = (
    (ColumnRole.STUDENT, gettext_lazy("Key of the student: compared, then thrown away")),
    (ColumnRole.ITEM, gettext_lazy("Quiz question: 1 right, 0 wrong")),
    (ColumnRole.CATEGORY, gettext_lazy("One of some values")),
    (ColumnRole.NUMBER, gettext_lazy("A number within bounds")),
    ("category-several", gettext_lazy("One of some values in each row of a student")),
    ("number-several", gettext_lazy("A number within bounds in each row of a student")),
    (ColumnRole.LEFT_OUT, gettext_lazy("Leave it out")),
)
FOR_OTHERS = (("", gettext_lazy("I choose each one")), ROLES[1], ROLES[-1])
TEXT_ROLES = (
    ("student", gettext_lazy("Key of the student: compared, then thrown away")),
    ("week", gettext_lazy("Week of the term, from 1")),
    ("text", gettext_lazy("The text: labelled, then thrown away")),
    (ColumnRole.LEFT_OUT, gettext_lazy("Leave it out")),
)
LANGUAGES = (
    ("", gettext_lazy("Choose a language")),
    ("en", gettext_lazy("English")),
    ("other", gettext_lazy("Another language")),
)
NO_DESCRIPTION = gettext_lazy("Write where the data come from, and what the students agreed to.")
LONGEST_LIST = 50_000
BETWEEN = re.compile(r"[–;]|,\s")
"""Between two bounds. A comma without a space after it may be that of a decimal number."""


class NewDataSetForm(ABC):
    """The fields of every new data set as they were typed, and the errors by field."""

    def __init__(self, sent: QueryDict | None = None) -> None:
        self.sent = sent if sent is not None else QueryDict()
        self.errors: dict[str, str] = {}

    def value(self, name: str) -> str:
        return str(self.sent.get(name, "")).strip()

    @property
    def values(self) -> dict[str, str]:
        return {"delete_on": usual_day().isoformat(), **{name: str(value) for name, value in self.sent.items()}}

    @property
    @abstractmethod
    def parts(self) -> Sequence[object]:
        """The columns, or the files, with their fields, for the template; `errors` says where a first line is not one."""

    @abstractmethod
    def declaration(self) -> tuple[Brought | BroughtRecords, object] | None:
        """The declaration, and the file or files; `errors` says what is missing or wrong, and it may be None then."""

    def read(self) -> Bringing | None:
        """The arguments of `services.bring`; None where something is missing or wrong."""
        for name, most, missing in (
            ("title", LONGEST_TITLE, _("Write a title.")),
            ("about", LONGEST_ABOUT, str(NO_DESCRIPTION)),
        ):
            if not self.value(name):
                self.errors[name] = missing
            elif len(self.value(name)) > most:
                self.errors[name] = _("Write at most %(most)s letters.") % {"most": most}
        day, declared = self._day(), self.declaration()
        if self.errors or day is None or declared is None:
            return None
        brought, file = declared
        return Bringing(brought=brought, file=file, title=self.value("title"), about=self.value("about"), delete_on=day)

    def _day(self) -> date | None:
        try:
            return typed_day(self.value("delete_on"))
        except ValueError as error:
            self.errors["delete_on"] = str(error)
            return None


class BringForm(NewDataSetForm):
    """The form of a new table or of texts. Nothing is guessed: what has no role is refused."""

    def __init__(self, sent: QueryDict | None = None, file: UploadedFile | None = None) -> None:
        super().__init__(sent)
        self.file = file
        self.kind = kind if (kind := self.value("kind")) in dict(KINDS) else "table"

    kinds, languages, others = KINDS, LANGUAGES, FOR_OTHERS

    @property
    def values(self) -> dict[str, str]:
        return super().values | {"kind": self.kind}

    @cached_property
    def names(self) -> list[str]:
        """The columns of the first line; empty where it is not one, and `errors` says why."""
        line = str(self.sent.get("header", "")).strip("\r\n")
        names, problem = columns_of(line) if line.strip() else ([], "")
        if problem:
            self.errors["header"] = problem
        return names

    @property
    def parts(self) -> list[dict[str, object]]:
        """Each column with its fields."""
        roles = [NO_ROLE, *(TEXT_ROLES if self.kind == "texts" else ROLES)]
        return [
            {
                "name": name,
                "field": f"role-{place}",
                "roles": roles,
                "role": self.value(f"role-{place}"),
                "role_error": self.errors.get(f"role-{place}", ""),
                "declared": f"declared-{place}",
                "values": self.value(f"declared-{place}"),
                "error": self.errors.get(f"declared-{place}", ""),
            }
            for place, name in enumerate(self.names)
        ]

    def declaration(self) -> tuple[Brought, UploadedFile] | None:
        if not self.names:
            self.errors.setdefault("header", _("Write the first line of the file, which names the columns."))
            return None
        brought = self._texts() if self.kind == "texts" else self._table()
        if self.file is None:
            self.errors["file"] = _("Choose the file.")
        return None if brought is None or self.file is None else (brought, self.file)

    def _table(self) -> Brought | None:
        columns = [self._column(place, name) for place, name in enumerate(self.names)]
        entries = self._whole("entries", 1, MOST_ENTRIES) if any(column and column.several for column in columns) else 1
        read = [column for column in columns if column]
        if len(read) == len(columns) and (problem := problem_of_columns(read)):
            self.errors["header"] = problem
        elif entries and (problem := problem_of_entries(read, entries)):
            self.errors["entries"] = problem
        if self.errors or entries is None:
            return None
        return BroughtTable(columns=read, entries=entries)

    def _column(self, place: int, name: str) -> BroughtColumn | None:
        typed = self.value(f"role-{place}") or self.value("others")
        role, _dash, several = typed.partition("-")
        if typed not in dict(ROLES):
            self.errors[f"role-{place}"] = _("Choose a role for the column “%(name)s”.") % {"name": name}
            return None
        column = {"name": name, "role": ColumnRole(role), "several": bool(several)}
        declared = self.value(f"declared-{place}")
        if role == ColumnRole.CATEGORY:
            values = self._values(place, name, declared)
            return BroughtColumn(values=values, **column) if values else None  # type: ignore[arg-type]  # by name
        if role == ColumnRole.NUMBER:
            bounds = self._bounds(place, name, declared)
            return BroughtColumn(minimum=bounds[0], maximum=bounds[1], **column) if bounds else None  # type: ignore[arg-type]  # by name
        return BroughtColumn(**column)  # type: ignore[arg-type]  # by name

    def _values(self, place: int, name: str, declared: str) -> tuple[str, ...]:
        between = ";" if ";" in declared else ","
        values = [value.strip() for value in next(csv.reader([declared.replace("\n", " ")], delimiter=between, skipinitialspace=True), [])]
        if problem := problem_of_values(name, values):
            self.errors[f"declared-{place}"] = problem
        return () if problem else tuple(values)

    def _bounds(self, place: int, name: str, declared: str) -> tuple[float, float] | None:
        parts = BETWEEN.split(declared) if BETWEEN.search(declared) else declared.split(",")
        typed = [typed_number(part.strip()) for part in parts]
        bounds = [float(number) for number in typed if number is not None]
        if problem := problem_of_bounds(name, bounds if len(bounds) == len(typed) else ()):
            self.errors[f"declared-{place}"] = problem
            return None
        return bounds[0], bounds[1]

    def _texts(self) -> Brought | None:
        roles: dict[str, str] = {}
        for place, name in enumerate(self.names):
            role = self.value(f"role-{place}") or (ColumnRole.LEFT_OUT if self.value("others") == ColumnRole.LEFT_OUT else "")
            if role not in dict(TEXT_ROLES):
                self.errors[f"role-{place}"] = _("Choose a role for the column “%(name)s”.") % {"name": name}
            elif role in roles:
                self.errors[f"role-{place}"] = _("Expected one column of each role; “%(name)s” is the second.") % {"name": name}
            elif role != ColumnRole.LEFT_OUT:
                roles[role] = name
        if not self.errors and (problem := problem_of_roles(roles)):
            self.errors["header"] = problem
        if problem := problem_of_language(self.value("language")):
            self.errors["language"] = problem
        weeks, cap, topics = self._whole("weeks", 1, MOST_WEEKS), self._whole("cap", 1, MOST_WEEKS), self._topics()
        if self.errors or weeks is None or cap is None:
            return None
        return BroughtTexts(names=self.names, roles=roles, topics=topics, weeks=weeks, cap=min(cap, len(topics)))

    def _topics(self) -> dict[str, list[str]]:
        """The word list: a topic, a colon and its words in each line."""
        topics: dict[str, list[str]] = {}
        for line in self.value("words")[:LONGEST_LIST].splitlines():
            topic, _colon, words = line.partition(":")
            if line.strip():
                if topic.strip() in topics:
                    self.errors["words"] = _("The topic “%(topic)s” stands there twice.") % {"topic": topic.strip()[:50]}
                topics[topic.strip()] = [word.strip() for word in words.split(",") if word.strip()]
        if problem := problem_of_topics(topics):
            self.errors.setdefault("words", problem)
        return topics

    def _whole(self, name: str, least: int, most: int) -> int | None:
        number = typed_number(self.value(name), whole=True)
        if number is None or not least <= number <= most:
            found = {"least": least, "most": most, "found": self.value(name)[:40]}
            self.errors[name] = _("Write a whole number from %(least)s to %(most)s, not “%(found)s”.") % found
            return None
        return int(number)


class BudgetForm:
    """ε and δ of a data set of `n` students as somebody typed them, what they buy, and the day on which its rows are deleted."""

    def __init__(self, sent: QueryDict, *, n: int, delete_on: date | None) -> None:
        self.n, self.errors = n, dict[str, str]()
        self.delete_on = str(sent.get("delete_on", delete_on or usual_day())).strip()
        self.epsilon = str(sent.get("epsilon", typed_value(USUAL_EPSILON))).strip()
        self.rarity = str(sent.get("rarity", usual_rarity(n))).strip()

    @cached_property
    def budget(self) -> PrivacyBudget | None:
        """None where something typed is wrong."""
        epsilon, rarity = typed_number(self.epsilon), typed_number(self.rarity)
        least = PEOPLE_PER_FAILURE * self.n
        if epsilon is None or not 0 < epsilon <= LARGEST_BUDGET:
            self.errors["epsilon"] = _("Write a number above 0 and at most %(most)s.") % {"most": LARGEST_BUDGET}
        if rarity is None or not least < rarity <= LARGEST_RARITY:
            self.errors["rarity"] = _("Write a number above %(least)s, ten times the students.") % {
                "least": number_format(least, force_grouping=True)
            }
        if self.errors or epsilon is None or rarity is None:
            return None
        return PrivacyBudget(epsilon=float(epsilon), delta=1 / float(rarity))

    @cached_property
    def day(self) -> date | None:
        """None where it is no day to come."""
        try:
            return typed_day(self.delete_on)
        except ValueError as error:
            self.errors["delete_on"] = str(error)
            return None


class DescriptionForm(forms.Form):
    """Where the data come from, written anew."""

    about = forms.CharField(max_length=LONGEST_ABOUT, error_messages={"required": NO_DESCRIPTION})


class ReasonForm(forms.Form):
    """Why a data set goes back to its owner."""

    reason = forms.CharField(max_length=LONGEST_REASON, error_messages={"required": gettext_lazy("Write why the data set goes back.")})


def first_errors(form: forms.Form) -> dict[str, str]:
    """The first problem of each field."""
    return {name: str(found[0]) for name, found in form.errors.items()}
