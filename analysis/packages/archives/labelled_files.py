"""labels.sps, labels.do, labels.R: data.csv read with the labels of its columns and values, by SPSS, Stata and R.

They are text, so that the same values make the same bytes, and a reader sees what they do. Files of SPSS and Stata themselves bear the time
at which they were written; each of these programs saves one, in its own present format.
"""

import re
from collections.abc import Mapping

from analysis.packages.content import Column, Content, columns_of

LABELS = ("labels.R", "labels.do", "labels.sps")
SLASH_OF_A_COMMENT = re.compile(r"/(?=[*/])|(?<=[*/])/")
END_OF_COMPOUND = re.compile(r"\"'|\A'")
LONGEST_NAME, LONGEST_LABEL = 32, 80
"""The limits of Stata, for names and for labels; SPSS takes longer ones."""


def labelled_files(content: Content) -> dict[str, bytes]:
    """The three programs by name; each reads data.csv from the folder in which it is started."""
    columns = columns_of(content)
    programs = {"labels.R": _r(content, columns), "labels.do": _stata(content, columns), "labels.sps": _spss(content, columns)}
    return {name: ("\n".join(lines) + "\n").encode() for name, lines in programs.items()}


def short_names(columns: list[Column]) -> dict[str, str]:
    """Names that Stata takes: the first letters, and where these are another column's, a number."""
    found: dict[str, str] = {}
    for number, column in enumerate(columns, start=1):
        short = column.name.replace("-", "_")[:LONGEST_NAME]
        found[column.name] = short if short not in found.values() else f"{short[: LONGEST_NAME - 4]}_{number:03}"
    return found


def _spss(content: Content, columns: list[Column]) -> list[str]:
    names = short_names(columns)
    kinds = [f"{names[one.name]} {'F1.0' if one.is_number else f'A{_width(one)}'}" for one in columns]
    lines = [f"* {_inert(content.title)}: data.csv with labels. In SPSS: INSERT FILE='labels.sps' CD=YES."]
    lines += ["GET DATA /TYPE=TXT /FILE='data.csv' /ENCODING='UTF8' /DELIMITERS=',' /QUALIFIER='\"' /ARRANGEMENT=DELIMITED /FIRSTCASE=2"]
    lines += [f"  /VARIABLES={' '.join(kinds)}.", "VARIABLE LABELS"]
    lines += [f"  {names[one.name]} {_quoted(one.label)}" for one in columns] + ["  .", "VALUE LABELS"]
    for number, one in enumerate(columns):
        lines.append(f"  {'/' if number else ''}{names[one.name]}")
        lines += [f"    {value if one.is_number else _quoted(value)} {_quoted(label)}" for value, label in one.values.items()]
    return [*lines, "  .", "EXECUTE.", "SAVE OUTFILE='data.sav'."]


def _stata(content: Content, columns: list[Column]) -> list[str]:
    names = short_names(columns)
    lines = [f"* {_inert(content.title)}: data.csv with labels. In Stata 14 or later: do labels.do", "version 14", "clear"]
    lines += ['import delimited using "data.csv", varnames(nonames) rowrange(2) stringcols(_all) encoding("UTF-8") delimiters(",")']
    for number, one in enumerate(columns, start=1):
        name = names[one.name]
        lines.append(f"rename v{number} {name}")
        if one.is_number:
            lines.append(f"destring {name}, replace")
            codes = {value: int(value) for value in one.values}
        else:
            codes = {value: code for code, value in enumerate(one.values, start=1)}
            lines += [f"generate int coded_{number} = ."]
            lines += [f"replace coded_{number} = {code} if {name} == {_compound(value)}" for value, code in codes.items()]
            lines += [f"drop {name}", f"rename coded_{number} {name}"]
        lines += [f"label define values_{number} {code} {_compound(one.values[value])}, add" for value, code in codes.items()]
        lines += [f"label values {name} values_{number}", f"label variable {name} {_compound(_cut(one.label))}"]
    return [*lines, f"order {' '.join(names.values())}", "compress", 'save "data.dta", replace']


def _r(content: Content, columns: list[Column]) -> list[str]:
    lines = [f"# {_plain(content.title)}: data.csv with labels. In R: source('labels.R', encoding = 'UTF-8'), then look at `answers`."]
    lines += ["answers <- read.csv('data.csv', colClasses = 'character', na.strings = '', check.names = FALSE, encoding = 'UTF-8')"]
    for one in columns:
        column = f"answers[[{_r_text(one.name)}]]"
        values, labels = ", ".join(map(_r_text, one.values)), ", ".join(map(_r_text, one.values.values()))
        if one.is_number:
            lines += [f"{column} <- as.integer({column})", f"attr({column}, 'labels') <- c({values_named(one.values)})"]
        else:
            lines += [f"{column} <- factor({column}, levels = c({values}))", f"attr({column}, 'labels') <- c({labels})"]
        lines.append(f"attr({column}, 'label') <- {_r_text(one.label)}")
    return [*lines, "saveRDS(answers, 'data.rds')"]


def values_named(values: Mapping[str, str]) -> str:
    """Labels as names of the numbers, as the R packages haven and labelled have them."""
    return ", ".join(f"{_r_text(label)} = {int(value)}L" for value, label in values.items())


def _width(column: Column) -> int:
    """Bytes of the longest value."""
    return max([1, *(len(value.encode()) for value in column.values)])


def _plain(text: str) -> str:
    """One line."""
    return " ".join(text.split())


def _inert(text: str) -> str:
    """For comments of SPSS and Stata, and for texts of Stata: nothing begins or ends a comment, goes on in the next line, or is a macro.

    Stata reads macros in comments, too, and both may read `/*` in a line that begins with `*`.
    """
    return SLASH_OF_A_COMMENT.sub("／", _plain(text).replace("`", "’").replace("$", "＄"))


def _cut(text: str) -> str:
    text = _plain(text)
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"


def _quoted(text: str) -> str:
    """For SPSS, which doubles apostrophes, and whose labels have at most 120 bytes."""
    cut = _plain(text).encode()[:117].decode(errors="ignore")
    return "'" + (cut if cut == _plain(text) else f"{cut}…").replace("'", "''") + "'"


def _compound(text: str) -> str:
    """For Stata, whose compound quotes hold all but themselves and what begins a macro. One that begins with `'` might end at once."""
    held = END_OF_COMPOUND.sub("”", _inert(text))
    return f'`"{held}"\''


def _r_text(text: str) -> str:
    escaped = _plain(text).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
