"""The words that participants read, found in templates and modules; `make words` brings the catalogues up to date.

It writes `templates/locale/participants.pot`, gives each language an empty entry for each new sentence, drops what no page says any
more, compiles all, and lists what is still to be translated. German has the words of staff, too: nothing is dropped there.
"""

import ast
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from candor.designs import privacy_words
from surveys.languages.catalogues import Catalogue, Entry, compiled, read_catalogue, written
from surveys.languages.promises import privacy_sentences

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "templates"
LOCALE = TEMPLATES / "locale"
TEMPLATE = LOCALE / "participants.pot"
REVIEWED = ROOT / "docs/reviewed_languages.json"
# Modules whose marked words participants read. With names: these functions, classes or names of gettext only.
MODULES = {
    **{str(path.relative_to(ROOT)): () for path in sorted((ROOT / "surveys/journey").rglob("*.py")) if path.stem != "preview"},
    "surveys/ways_in.py": ("_",),
    "surveys/credit/selectors.py": (),
    "surveys/credit/services.py": ("give_code", "hand_in", "hand_in_nothing", "_required", "_mark", "_held_book", "_queue"),
    **{f"surveys/classroom/{name}.py": () for name in ("questions", "selectors", "services", "views")},
    "surveys/privacy/budgets.py": ("budget_in_words",),
    "analysis/learning/outlook.py": (),
    "platform/config/body_sizes.py": ("_",),
    "platform/config/error_responses.py": (),
    "lti/errors.py": (),
    "lti/selectors.py": ("platforms_named",),
    "lti/standard/messages.py": (),
    "lti/standard/outgoing.py": (),
    "lti/views.py": ("login", "launch", "_to_study", "_choice", "choose", "credit", "_take"),
}
ERRORS = ("SurveyError", "CreditError", "JourneyError")
GETTEXT = {"_", "gettext", "gettext_lazy", "gettext_noop", "ngettext"}
LOGGED_IN = re.compile(
    r"\{% if user\.is_authenticated %\}(?:(?!\{% (?:if|else)\b).)*?\{% endif %\}|\{% if user\.is_authenticated %\}.*?\{% else %\}",
    re.DOTALL,
)
"""The parts of a page that participants and other strangers do not see."""
EXTENDS = re.compile(r"""\{%\s*(?:extends|include)\s+["']([^"']+)["']""")
TRANSLATE = re.compile(r"""\{%\s*translate\s+(?:"([^"]+)"|'([^']+)')""")
IN_A_FILTER = re.compile(r"""\b_\("([^"]+)"\)""")
BLOCK = re.compile(r"\{%\s*blocktranslate\b([^%]*)%\}(.*?)\{%\s*endblocktranslate\s*%\}", re.DOTALL)


def participants_words() -> dict[str, str]:
    """Each sentence as the catalogue is asked for it, with its plural, which is mostly empty."""
    words = dict(pair for path in pages() for pair in words_in_page(path))
    for name, parts in MODULES.items():
        words.update(words_in_module(ROOT / name, parts))
    words.update(words_of_errors())
    words.update(dict.fromkeys((privacy_words.AFTER_ONE, privacy_words.ONLY_ONE, privacy_words.AFTER_ALL), ""))
    return dict(sorted(words.items()))


def pages() -> list[Path]:
    """The templates of participants with all that they extend or include; what only staff see in a preview is not theirs."""
    found: list[Path] = []
    waiting = [*TEMPLATES.glob("surveys/participant/**/*.html"), *TEMPLATES.glob("surveys/classroom/*.html")]
    waiting += TEMPLATES.glob("lti/student/*.html")
    waiting += [TEMPLATES / name for name in ("home.html", "error.html", "given_back.html")]
    while waiting:
        path = waiting.pop()
        if path not in found and "investigator" not in path.parts:
            found.append(path)
            waiting += [TEMPLATES / name for name in EXTENDS.findall(path.read_text(encoding="utf-8"))]
    return found


def words_in_page(path: Path) -> Iterator[tuple[str, str]]:
    """Django doubles the percent signs of a template's words."""
    source = LOGGED_IN.sub("", path.read_text(encoding="utf-8"))
    for double, single in TRANSLATE.findall(source):
        yield (double or single).replace("%", "%%"), ""
    for words in IN_A_FILTER.findall(source):
        yield words, ""
    for options, words in BLOCK.findall(source):
        one, _, many = words.partition("{% plural %}")
        yield said_in_block(one), said_in_block(many) if "count " in options else ""


def said_in_block(words: str) -> str:
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", r"%(\1)s", words.replace("%", "%%"))


def words_in_module(path: Path, parts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    callees = GETTEXT & set(parts) or GETTEXT
    named = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in parts]
    for root in named or [tree]:
        for node in ast.walk(root):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in callees:
                said = [part.value for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
                if said:
                    yield said[0], said[1] if len(said) > 1 else ""


def words_of_errors() -> Iterator[tuple[str, str]]:
    """The titles and advice of what can stop a participant."""
    tree = ast.parse((ROOT / "surveys/errors.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and (node.name in ERRORS or any(ast.unparse(base) in ERRORS[1:] for base in node.bases)):
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "_" and isinstance(call.args[0], ast.Constant):
                    yield str(call.args[0].value), ""


def reviews_of(words: Iterable[str]) -> dict[str, str]:
    """Each language, with the hash of every privacy sentence beside its translation: a changed word on either side changes it."""
    found = {}
    for language in languages():
        said = catalogue_of(language).entries
        pairs = [[one, *said[one].said] for one in privacy_sentences(words) if one in said]
        found[language.name] = hashlib.sha256(json.dumps(pairs, ensure_ascii=False).encode()).hexdigest()
    return found


def languages() -> list[Path]:
    return sorted(path for path in LOCALE.iterdir() if path.is_dir())


def template() -> Catalogue:
    header = {"Content-Type": "text/plain; charset=UTF-8", "Language": "", "X-Language-Name": "", "Plural-Forms": ""}
    return Catalogue(header=header, entries={one: Entry(one=one, many=many) for one, many in participants_words().items()})


def catalogue_of(language: Path) -> Catalogue:
    return read_catalogue((language / "LC_MESSAGES/django.po").read_text(encoding="utf-8"))


def is_said(catalogue: Catalogue, wanted: Entry) -> bool:
    found = catalogue.entries.get(wanted.one)
    return found is not None and found.many == wanted.many and all(found.said) and bool(found.said)


def main(arguments: Sequence[str] = ()) -> int:
    if arguments == ["--reviewed"]:
        REVIEWED.write_text(json.dumps(reviews_of(participants_words()), indent=1) + "\n", encoding="utf-8")
        return 0
    wanted = template()
    TEMPLATE.write_text(
        written(wanted, about="# The words of participants' pages: docs/languages.md says how to translate them.\n"), encoding="utf-8"
    )
    missing = 0
    for language in languages():
        catalogue, path = catalogue_of(language), language / "LC_MESSAGES/django.po"
        empty = [one for one, entry in wanted.entries.items() if not is_said(catalogue, entry)]
        if language.name == "de":
            entries = {**catalogue.entries, **{one: wanted.entries[one] for one in empty}}
            text = path.read_text(encoding="utf-8")
            new = [wanted.entries[one] for one in empty if one not in catalogue.entries]
            if new:
                body = written(Catalogue(header={}, entries={one.one: one for one in new})).partition("\n\n")[2]
                path.write_text(f"{text.rstrip()}\n\n{body}", encoding="utf-8")
        else:
            entries = {one: replace(entry, said=catalogue.entries.get(one, entry).said) for one, entry in wanted.entries.items()}
            path.write_text(written(Catalogue(header=catalogue.header, entries=entries)), encoding="utf-8")
        (language / "LC_MESSAGES/django.mo").write_bytes(compiled(Catalogue(header=catalogue.header, entries=entries)))
        for one in empty:
            print(f"{language.name}: {one}")
        missing += len(empty)
    print(f"{len(wanted.entries)} sentences; {missing} translations are missing.")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
