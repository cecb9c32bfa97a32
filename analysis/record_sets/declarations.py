"""The rules for files of students, for the page and for programs: each gives a sentence, empty where nothing is wrong."""

import re
from collections.abc import Sequence

from django.utils.translation import gettext as _

from analysis.sources.records.rows import BroughtFile, way_up
from analysis.sources.records.statements import STATEMENT
from analysis.sources.records.values import ROLES
from analysis.sources.table_files import check_names
from candor.records.schema import DEEPEST
from surveys.reading.apart import in_words
from surveys.reading.words import UnreadableError

CSV, XAPI, RECORDS = "csv", "xapi", "json"
MOST_FILES = 20
GROUP = re.compile(r"[^\W\d][\w -]{0,39}")


def problem_of_file(file: BroughtFile) -> str:
    """The fault of one file; a column without a role is named."""
    if file.kind == RECORDS:
        return "" if not (file.group or file.roles) else _("“%(file)s”: records in JSON say the roles themselves.") % {"file": file.name}
    if file.group and not GROUP.fullmatch(file.group):
        return _("“%(file)s”: name what a row is by at most 40 letters, such as: course") % {"file": file.name}
    if file.kind == XAPI and not file.group:
        return _("“%(file)s”: name what a statement is, such as: activity") % {"file": file.name}
    if file.kind == CSV:
        try:
            check_names(file.columns)
        except UnreadableError as error:
            return f"{file.name}: {in_words(error.problems[0].document())}"
        if file.key not in file.columns:
            return _("“%(file)s”: one column must hold the number of the student.") % {"file": file.name}
        if strange := sorted({file.key, *file.on} - set(file.columns)):
            return _("“%(file)s” has no column “%(column)s”.") % {"file": file.name, "column": strange[0][:100]}
    if bool(file.below) != bool(file.on) or (file.below and not file.group):
        return _("“%(file)s”: say what a row is, to what it belongs, and which columns say to which one.") % {"file": file.name}
    expected = [name for name in file.columns if name not in (file.key, *file.on)] if file.kind == CSV else list(STATEMENT)
    for name in expected:
        if file.roles.get(name) not in ROLES:
            return _("“%(file)s”: “%(column)s” has no role. Choose one; nothing is guessed.") % {"file": file.name, "column": name}
    if strange := sorted(set(file.roles) - set(expected)):
        return _("“%(file)s” has no column “%(column)s” that could have a role.") % {"file": file.name, "column": strange[0][:100]}
    return ""


def problem_of_files(files: Sequence[BroughtFile]) -> str:
    """The fault of all files together."""
    roots = [file for file in files if file.kind == CSV and not file.group]
    if not files or len(files) > MOST_FILES:
        return _("Expected 1 to %(most)s files, found %(found)s.") % {"most": MOST_FILES, "found": len(files)}
    if any(file.kind == RECORDS for file in files):
        return "" if len(files) == 1 else _("Records in JSON have no number of a student, so they come alone.")
    if len(roots) > 1:
        return _("Expected one file whose rows are students, found %(found)s.") % {"found": len(roots)}
    if not roots and any(file.kind == CSV for file in files):
        return _("Expected a file whose rows are students beside the files of courses, found none.")
    for file in files:
        if any(name == file.group or name.startswith(f"{file.group}.") for root in roots for name in root.columns if file.group):
            return _("“%(name)s” names a column of the students, too. Give the rows another name.") % {"name": file.group}
    return next((problem for file in files if (problem := _problem_above(file, files))), "")


def _problem_above(file: BroughtFile, files: Sequence[BroughtFile]) -> str:
    """Why the rows of a file cannot be found below rows of another one."""
    told: dict[str, object] = {"file": file.name, "group": file.group, "below": file.below}
    if any((one.below, set(one.on)) != (file.below, set(file.on)) for one in files if file.group == one.group):
        return _("Rows called “%(group)s” belong to the same rows in every file, by the same columns.") % told
    if not file.below:
        return ""
    above = [one for one in files if one.group == file.below]
    if not above:
        return _("“%(file)s”: no file has rows that are called “%(below)s”.") % told
    if any(set(one.on) != set(file.on) for one in files if one.below == file.below):
        return _("All rows that belong to a “%(below)s” find it by the same columns.") % told
    if XAPI in {one.kind for one in (file, *above)} and len(file.on) > 1:
        told = {"file": file.name, "found": str(len(file.on))}
        return _("“%(file)s”: expected one column, because an address names an activity; found %(found)s.") % told
    for one in above:
        if one.kind == CSV and (missing := sorted(set(file.on) - set(one.columns))):
            return _("“%(above)s” has no column “%(column)s”, by which the rows of “%(file)s” find theirs.") % {
                **told,
                "above": one.name,
                "column": missing[0],
            }
    way = way_up(file, files)
    if any(one.below == file.group and one.group == way[-1] for one in files):
        return _("“%(group)s” would belong to itself.") % told
    return "" if len(way) < DEEPEST else _("Expected at most %(most)s levels.") % {"most": DEEPEST}
