"""The forms of data sets: bringing one, where every column gets its role by hand, and asking for its budget."""

import csv
from collections.abc import Iterator
from typing import IO

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.data_sets.services import LONGEST_REASON
from analysis.sources.brought import Brought, BroughtColumn, BroughtTable, BroughtTexts, ColumnRole
from analysis.sources.table_files import FORMULA, names_of
from candor.errors import DataError
from candor.texts.word_lists import WordList
from candor.written_numbers import typed_number
from surveys.privacy.budgets import USUAL_EPSILON, Bought, bought_by, usual_rarity
from surveys.questions.plans import LARGEST_BUDGET, PEOPLE_PER_FAILURE, PrivacyBudget
from surveys.reading.apart import in_words
from surveys.reading.words import UnreadableError

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
FEWEST_ITEMS, MOST_ITEMS, MOST_COLUMNS = 2, 200, 240
MOST_ENTRIES, MOST_WEEKS, MOST_VALUES = 100, 60, 1000
LONGEST_TITLE, LONGEST_ABOUT, LONGEST_LIST = 200, 5000, 50_000
LARGEST_RARITY = 10**14


class BringForm:
    """The form of a new data set as it was typed, and the errors by field. Nothing is guessed: what has no role is refused."""

    def __init__(self, sent: QueryDict | None = None, file: UploadedFile | None = None) -> None:
        self.sent, self.file = sent if sent is not None else QueryDict(), file
        self.errors: dict[str, str] = {}
        self.kind = kind if (kind := self.value("kind")) in dict(KINDS) else "table"

    kinds, languages, others = KINDS, LANGUAGES, FOR_OTHERS

    def value(self, name: str) -> str:
        return str(self.sent.get(name, "")).strip()

    @property
    def values(self) -> dict[str, str]:
        return {name: str(value) for name, value in self.sent.items()} | {"kind": self.kind}

    @cached_property
    def names(self) -> list[str]:
        """The columns of the first line; empty where it is not one, and `errors` says why."""
        line = str(self.sent.get("header", "")).strip("\r\n")
        try:
            names = names_of(line)[0] if line.strip() else []
        except UnreadableError as error:
            self.errors["header"] = in_words(error.problems[0].document())
            return []
        if len(names) > MOST_COLUMNS:
            self.errors["header"] = _("Expected at most %(most)s columns, found %(found)s.") % {"most": MOST_COLUMNS, "found": len(names)}
            return []
        return names

    @property
    def columns(self) -> list[dict[str, object]]:
        """Each column with its fields, for the template."""
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

    def read(self) -> tuple[Brought, IO[bytes]] | None:
        """The declaration and the file; None where something is missing or wrong."""
        for name, most, missing in (
            ("title", LONGEST_TITLE, _("Write a title.")),
            ("about", LONGEST_ABOUT, _("Write where the data come from, and what the students agreed to.")),
        ):
            if not self.value(name):
                self.errors[name] = missing
            elif len(self.value(name)) > most:
                self.errors[name] = _("Write at most %(most)s letters.") % {"most": most}
        if not self.names:
            self.errors.setdefault("header", _("Write the first line of the file, which names the columns."))
            return None
        brought = self._texts() if self.kind == "texts" else self._table()
        if self.file is None:
            self.errors["file"] = _("Choose the file.")
        return (brought, self.file) if brought and self.file and not self.errors else None

    def _table(self) -> Brought | None:
        columns = [self._column(place, name) for place, name in enumerate(self.names)]
        entries = self._whole("entries", 1, MOST_ENTRIES) if any(column and column.several for column in columns) else 1
        roles = [column.role for column in columns if column]
        if len(roles) == len(columns):
            items = roles.count(ColumnRole.ITEM)
            if roles.count(ColumnRole.STUDENT) != 1:
                keys = roles.count(ColumnRole.STUDENT)
                self.errors["header"] = _("Expected one column with keys of students, found %(found)s.") % {"found": keys}
            elif items and not FEWEST_ITEMS <= items <= MOST_ITEMS:
                found = {"least": FEWEST_ITEMS, "most": MOST_ITEMS, "found": items}
                self.errors["header"] = _("Expected a quiz of %(least)s to %(most)s questions, found %(found)s.") % found
            elif not any(column.is_kept for column in columns if column):
                self.errors["header"] = _("Expected at least one column that is kept, found none.")
            elif entries == 1 and any(column.several for column in columns if column):
                self.errors["entries"] = _("Write how many rows of a student count, at least 2.")
        if self.errors or entries is None:
            return None
        return BroughtTable(columns=[column for column in columns if column], entries=entries)

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
        values = [value.strip() for value in next(csv.reader([declared.replace("\n", " ")], skipinitialspace=True), [])]
        problem = ""
        if not values or "" in values or len(values) > MOST_VALUES:
            problem = _("Write the values of “%(name)s”, from 1 to %(most)s, with commas between them.")
        elif len(set(values)) < len(values):
            problem = _("The values of “%(name)s” must differ.")
        elif any(value.startswith(FORMULA) for value in values):
            problem = _("A value of “%(name)s” is a formula.")
        if problem:
            self.errors[f"declared-{place}"] = problem % {"name": name, "most": MOST_VALUES}
        return () if problem else tuple(values)

    def _bounds(self, place: int, name: str, declared: str) -> tuple[float, float] | None:
        bounds = [typed_number(part.strip()) for part in declared.replace("–", ",").split(",")]
        if len(bounds) == 2 and bounds[0] is not None and bounds[1] is not None and bounds[0] < bounds[1]:
            return float(bounds[0]), float(bounds[1])
        self.errors[f"declared-{place}"] = _("Write the least and the largest value of “%(name)s”, such as: 0, 4") % {"name": name}
        return None

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
        if not self.errors and len(roles) < len(TEXT_ROLES) - 1:
            self.errors["header"] = _("Expected one column with keys of students, one with weeks and one with texts.")
        if self.value("language") != "en":
            self.errors["language"] = _("Affect is read by an English lexicon: texts in another language cannot be labelled.")
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
        try:
            WordList.of(topics)
        except DataError as error:
            self.errors.setdefault("words", str(error))
        if "" in topics:
            self.errors["words"] = _("Write each line as a topic, a colon and its words.")
        return topics

    def _whole(self, name: str, least: int, most: int) -> int | None:
        number = typed_number(self.value(name), whole=True)
        if number is None or not least <= number <= most:
            found = {"least": least, "most": most, "found": self.value(name)[:40]}
            self.errors[name] = _("Write a whole number from %(least)s to %(most)s, not “%(found)s”.") % found
            return None
        return int(number)


class BudgetForm:
    """ε and δ of a data set of `n` students as somebody typed them, and what they buy."""

    def __init__(self, sent: QueryDict, *, n: int) -> None:
        self.n, self.errors = n, dict[str, str]()
        self.epsilon = str(sent.get("epsilon", f"{USUAL_EPSILON:g}")).strip()
        self.rarity = str(sent.get("rarity", usual_rarity(n))).strip()

    @cached_property
    def budget(self) -> PrivacyBudget | None:
        """None where something typed is wrong."""
        epsilon, rarity = typed_number(self.epsilon), typed_number(self.rarity)
        least = PEOPLE_PER_FAILURE * self.n
        if epsilon is None or not 0 < epsilon <= LARGEST_BUDGET:
            self.errors["epsilon"] = _("Write a number above 0 and at most %(most)s.") % {"most": LARGEST_BUDGET}
        if rarity is None or not least < rarity <= LARGEST_RARITY:
            self.errors["rarity"] = _("Write a number above %(least)s, ten times the students.") % {"least": f"{least:,}"}
        if self.errors or epsilon is None or rarity is None:
            return None
        return PrivacyBudget(epsilon=float(epsilon), delta=1 / float(rarity))

    def bought(self) -> Iterator[Bought]:
        if self.budget:
            yield from bought_by(self.budget, people=self.n)


class ReasonForm(forms.Form):
    """Why a data set goes back to its owner."""

    reason = forms.CharField(max_length=LONGEST_REASON, error_messages={"required": _("Write why the data set goes back.")})
