"""The rules of a declaration, for the page and for programs: each gives a sentence, empty where nothing is wrong."""

from collections.abc import Collection, Mapping, Sequence

from django.utils.translation import gettext as _

from analysis.sources.brought import BroughtColumn, ColumnRole
from analysis.sources.table_files import FORMULA, check_names, names_of
from candor.errors import DataError
from candor.queries.parts import in_order
from candor.texts.word_lists import MOST_TOPICS, WordList
from surveys.reading.apart import in_words
from surveys.reading.words import UnreadableError

FEWEST_ITEMS, MOST_ITEMS, MOST_COLUMNS = 2, 200, 240
MOST_ENTRIES, MOST_WEEKS, MOST_VALUES = 100, 60, 1000
LONGEST_TITLE, LONGEST_ABOUT = 200, 5000
TEXT_ROLES = ("student", "week", "text")


def problem_of_names(names: Sequence[str]) -> str:
    """`names` are those of the first line."""
    try:
        check_names(names)
    except UnreadableError as error:
        return in_words(error.problems[0].document())
    if len(names) > MOST_COLUMNS:
        return _("Expected at most %(most)s columns, found %(found)s.") % {"most": MOST_COLUMNS, "found": len(names)}
    return ""


def columns_of(line: str) -> tuple[list[str], str]:
    """The columns that a first line names, or none and why not."""
    try:
        names = names_of(line)[0]
    except UnreadableError as error:
        return [], in_words(error.problems[0].document())
    problem = problem_of_names(names)
    return ([], problem) if problem else (names, "")


def problem_of_columns(columns: Sequence[BroughtColumn]) -> str:
    roles = [column.role for column in columns]
    keys, items = roles.count(ColumnRole.STUDENT), roles.count(ColumnRole.ITEM)
    if keys != 1:
        return _("Expected one column with keys of students, found %(found)s.") % {"found": keys}
    if items and not FEWEST_ITEMS <= items <= MOST_ITEMS:
        found = {"least": FEWEST_ITEMS, "most": MOST_ITEMS, "found": items}
        return _("Expected a quiz of %(least)s to %(most)s questions, found %(found)s.") % found
    if not any(column.is_kept for column in columns):
        return _("Expected at least one column that is kept, found none.")
    return ""


def problem_of_entries(columns: Sequence[BroughtColumn], entries: int) -> str:
    if entries == 1 and any(column.several for column in columns):
        return _("Write how many rows of a student count, at least 2.")
    return ""


def problem_of_values(name: str, values: Sequence[str]) -> str:
    """`values` are those that the column “name” may have."""
    problem = ""
    if not values or "" in values or len(values) > MOST_VALUES:
        problem = _("Write the values of “%(name)s”, from 1 to %(most)s, with commas between them.")
    elif len(set(values)) < len(values):
        problem = _("The values of “%(name)s” must differ.")
    elif any(value.startswith(FORMULA) for value in values):
        problem = _("A value of “%(name)s” is a formula.")
    return problem and problem % {"name": name, "most": MOST_VALUES}


def problem_of_bounds(name: str, bounds: Sequence[float]) -> str:
    """The bounds are those that questions about the column can have."""
    try:
        low, high = bounds
        in_order(low, high)
        return ""
    except ValueError:
        return _("Write the least and the largest value of “%(name)s”, such as: 0, 4") % {"name": name}


def problem_of_roles(roles: Collection[str]) -> str:
    """`roles` are those that columns of a file of texts have."""
    return "" if set(roles) >= set(TEXT_ROLES) else _("Expected one column with keys of students, one with weeks and one with texts.")


def problem_of_language(language: str) -> str:
    if not language:
        return _("Choose the language of the texts.")
    return "" if language == "en" else _("Affect is read by an English lexicon: texts in another language cannot be labelled.")


def problem_of_topics(topics: Mapping[str, Sequence[str]]) -> str:
    if "" in topics:
        return _("Write each line as a topic, a colon and its words.")
    if not topics:
        return _("Write at least one topic with its words.")
    if bare := next((topic for topic, words in topics.items() if not words), ""):
        return _("The topic “%(topic)s” has no words. Write each line as a topic, a colon and its words.") % {"topic": bare[:50]}
    if len(topics) > MOST_TOPICS:
        return _("Write at most %(most)s topics, not %(found)s.") % {"most": MOST_TOPICS, "found": len(topics)}
    homes: dict[str, str] = {}
    for topic, words in topics.items():
        for word in words:
            if (other := homes.setdefault(" ".join(str(word).casefold().split()), topic)) != topic:
                told = {"word": str(word)[:50], "one": other[:50], "other": topic[:50]}
                return _("The word “%(word)s” tells two topics, “%(one)s” and “%(other)s”. Leave it in one of them.") % told
    try:
        WordList.of(topics)
    except DataError as error:
        return str(error)
    return ""
