"""Catalogues of a language: the words of participants' pages and their translations, as gettext's `.po` files, read, checked and compiled.

Pure: translators' programs write such files, so nothing in them is trusted.
"""

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from gettext import c2py

LARGEST_CATALOGUE = 1_000_000
"""Bytes of a file; ours have 80,000."""
LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8})?")
CONTEXT = "\x04"
"""Between the context of a sentence and the sentence, as gettext has it."""
_PLACE = re.compile(r"%\(\w+\)[sd]|%%|\{\w+\}|%.?")
_TAG = re.compile(r"<[^>]*>|&\w+;")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


class CatalogueError(ValueError):
    """A file that is no catalogue; `problems` has a line for each thing that is wrong."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A sentence of the pages. `many`: its plural, empty for most; `said` has one text, or one for each plural form of the language."""

    one: str
    many: str = ""
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    header: Mapping[str, str]
    entries: Mapping[str, Entry] = field(default_factory=dict)

    @property
    def language(self) -> str:
        return self.header.get("Language", "")

    @property
    def name(self) -> str:
        """The language's own name for itself."""
        return self.header.get("X-Language-Name", "")


def read_catalogue(text: str) -> Catalogue:
    """The catalogue in a `.po` file; `CatalogueError` names every line that does not belong into one."""
    problems: list[str] = []
    found: dict[str, Entry] = {}
    block: dict[str, str] = {}
    current = ""

    def finish() -> None:
        if "msgid" in block:
            said = tuple(words for key, words in sorted(block.items(), key=_form) if key.startswith("msgstr"))
            context = block.get("msgctxt", "") + CONTEXT if "msgctxt" in block else ""
            entry = Entry(one=context + block["msgid"], many=block.get("msgid_plural", ""), said=said)
            if entry.one in found:
                problems.append(f"twice: {_short(entry.one)}")
            found[entry.one] = entry
        block.clear()

    for number, raw in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        keyword, _, rest = ("", "", line) if line.startswith('"') else line.partition(" ")
        if keyword and not re.fullmatch(r"msgctxt|msgid|msgid_plural|msgstr(\[\d\])?", keyword):
            problems.append(f"line {number}: expected msgid, msgid_plural, msgstr or text in quotes, found {_short(line)}")
            continue
        quoted = _STRING.fullmatch(rest.strip())
        if quoted is None or not (keyword or current):
            problems.append(f"line {number}: expected text in quotes, found {_short(line)}")
            continue
        if keyword == "msgctxt" or (keyword == "msgid" and current != "msgctxt"):
            finish()
        elif keyword in block:
            problems.append(f"line {number}: a second {keyword} for {_short(block.get('msgid', ''))}")
        current = keyword or current
        block[current] = block.get(current, "") + re.sub(r"\\(.)", _unescaped, quoted[1])
    finish()
    head = found.pop("", Entry(one="")).said
    header = dict(re.findall(r"^([\w-]+):\s*(.*)$", "\n".join(head), re.MULTILINE))
    if problems:
        raise CatalogueError(problems)
    return Catalogue(header=header, entries=found)


def problems_in(catalogue: Catalogue, template: Catalogue) -> list[str]:
    """All that keeps this catalogue from serving participants: sentences that are missing, unknown, with other places or with markup."""
    problems = [*_about_the_header(catalogue)]
    forms = plural_forms(catalogue)
    problems += [f"missing: {_short(one)}" for one in template.entries if not any(_said(catalogue, one))]
    problems += [f"not a sentence of these pages: {_short(one)}" for one in catalogue.entries if one not in template.entries]
    for one, wanted in template.entries.items():
        entry = catalogue.entries.get(one)
        if entry is None or not any(entry.said):
            continue
        if entry.many != wanted.many:
            problems.append(f"expected the plural {_short(wanted.many) or 'none'}, found {_short(entry.many) or 'none'}: {_short(one)}")
            continue
        if len(entry.said) != (expected := forms if wanted.many else 1):
            problems.append(f"expected {expected} forms, found {len(entry.said)}: {_short(one)}")
        for said in entry.said:
            problems += [f"{problem}: {_short(one)}" for problem in _about_one(said, wanted)]
    return problems


def plural_forms(catalogue: Catalogue) -> int:
    """How many plural forms the header declares; 0 if it declares none that can be read."""
    declared = _declared(catalogue)
    return declared[0] if declared else 0


def compiled(catalogue: Catalogue) -> bytes:
    """The catalogue as gettext reads it, a `.mo` file: the same bytes for the same words."""
    said_in = {**catalogue.header, "Content-Type": "text/plain; charset=UTF-8"}  # without it gettext reads ASCII
    header = "".join(f"{name}: {value}\n" for name, value in said_in.items())
    pairs = {"": header} | {
        (f"{entry.one}\0{entry.many}" if entry.many else entry.one): "\0".join(entry.said)
        for entry in catalogue.entries.values()
        if any(entry.said)
    }
    keys = sorted(key.encode() for key in pairs)
    start = 28 + 16 * len(keys)
    words = [*keys, *(pairs[key.decode()].encode() for key in keys)]
    tables, body = b"", b""
    for text in words:
        tables += struct.pack("<II", len(text), start + len(body))
        body += text + b"\0"
    return struct.pack("<7I", 0x950412DE, 0, len(keys), 28, 28 + 8 * len(keys), 0, start) + tables + body


def written(catalogue: Catalogue, *, about: str = "") -> str:
    """The catalogue as a `.po` file."""
    header = "\n".join(f'"{name}: {_escaped(value)}\\n"' for name, value in catalogue.header.items())
    parts = [f'{about}msgid ""\nmsgstr ""\n{header}']
    for entry in catalogue.entries.values():
        context, _, one = entry.one.rpartition(CONTEXT)
        start = f'msgctxt "{_escaped(context)}"\n' if context else ""
        start += f'msgid "{_escaped(one)}"\n'
        if entry.many:
            said = "\n".join(f'msgstr[{number}] "{_escaped(words)}"' for number, words in enumerate(entry.said or ("", "")))
            parts.append(f'{start}msgid_plural "{_escaped(entry.many)}"\n{said}')
        else:
            parts.append(f'{start}msgstr "{_escaped(entry.said[0] if entry.said else "")}"')
    return "\n\n".join(parts) + "\n"


def _about_the_header(catalogue: Catalogue) -> list[str]:
    problems = []
    if not LANGUAGE.fullmatch(catalogue.language):
        problems.append(f"header: expected a Language such as tr or pt-br, found {catalogue.language or 'none'}")
    if not catalogue.name or len(catalogue.name) > 40 or _TAG.search(catalogue.name):
        problems.append(f"header: expected an X-Language-Name of 1 to 40 letters, found {_short(catalogue.name) or 'none'}")
    if _declared(catalogue) is None:
        found = catalogue.header.get("Plural-Forms", "") or "none"
        problems.append(f"header: expected Plural-Forms such as nplurals=2; plural=(n != 1); found {_short(found)}")
    return problems


def _declared(catalogue: Catalogue) -> tuple[int, Callable[[int], int]] | None:
    """The number of plural forms and their rule, if the rule chooses a form of these for each number."""
    found = re.fullmatch(r"\s*nplurals\s*=\s*([1-9])\s*;\s*plural\s*=\s*([^;]{1,500});?\s*", catalogue.header.get("Plural-Forms", ""))
    if not found:
        return None
    try:
        rule = c2py(found[2])
        if all(0 <= rule(number) < int(found[1]) for number in range(1000)):
            return int(found[1]), rule
    except (ValueError, ZeroDivisionError, RecursionError, SyntaxError):
        pass
    return None


def _about_one(said: str, wanted: Entry) -> list[str]:
    """A form of a plural may leave out the number; everything else stands in a translation as often as in the original."""
    if not said.strip():
        return ["a form is empty"]
    problems = []
    places, tags = sorted(_PLACE.findall(said)), sorted(_TAG.findall(said))
    allowed = {tuple(sorted(_PLACE.findall(text))) for text in (wanted.one, wanted.many) if text}
    if tuple(places) not in allowed:
        problems.append(
            f"expected the places {' or '.join(' '.join(one) or 'none' for one in sorted(allowed))}, found {' '.join(places) or 'none'}"
        )
    if tags != sorted(_TAG.findall(wanted.one)) or "<" in _TAG.sub("", said):
        problems.append(f"expected the markup {' '.join(sorted(_TAG.findall(wanted.one))) or 'none'}, found {' '.join(tags) or 'a <'}")
    if '"' in _TAG.sub("", said):
        problems.append("a straight quotation mark, which could end an attribute of the page: use the language’s own")
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f\ue000-\uf8ff\u202a-\u202e\u2066-\u2069]", said):
        problems.append("a character that nobody can see")
    return problems


def _said(catalogue: Catalogue, one: str) -> tuple[str, ...]:
    entry = catalogue.entries.get(one)
    return entry.said if entry else ()


def _form(item: tuple[str, str]) -> int:
    """Plural forms in their order."""
    number = re.search(r"\d", item[0])
    return int(number[0]) if number else 0


def _unescaped(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[1], found[0])


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")


def _short(text: str) -> str:
    return text if len(text) <= 70 else f"{text[:70]}…"
