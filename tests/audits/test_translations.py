"""Every word on a page that is there in German has a German translation, compiled and committed: participants' pages, and some of staff."""

import ast
import gettext
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from audit import actions
from candor import complaints
from candor.designs import assumptions
from candor.planning import notes
from surveys.errors import SurveyError
from surveys.languages.catalogues import read_catalogue
from surveys.preregistration import documents
from tests.audits.participants_words import participants_words
from tests.audits.tree import project_files

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "templates"
# Programs, bots and developers read these; pages show a sentence of their own. The rules of a study file are pure, as the library is.
NOT_FOR_PEOPLE = {
    "Http404",
    "CommandError",
    "ValueError",
    "KeyError",
    "ArithmeticError",
    "BlindMessageError",
    "TypeError",
    "OverchargedError",
    "UnexpectedPageError",
    "UnsatisfiableRangeError",
    "RefusedAddressError",
    "AddressError",
    "StoreAwayError",
    "DamagedError",
    "FileNotFoundError",
    "CatalogueError",
    "EvidenceError",
}
TRANSLATE = re.compile(r"""\{%\s*translate\s+(?:"([^"]+)"|'([^']+)')""")
CALL = re.compile(r"""\b(?:_|gettext)\(\s*"([^"]+)"\s*[,)]""")
LAZY_CALL = re.compile(r"""\b(?:_|gettext|gettext_lazy|gettext_noop)\(\s*"([^"]+)"\s*[,)]""")
# Pages of views with `in_own_language`, and what they show.
STAFF_PAGES = ("analysis/learning/**/*", "analysis/data_sets/*", "analysis/inbox", "analysis/decisions", "accounts/account", "base_staff")
STAFF_PAGES += ("accounts/tokens", "surveys/investigator/log", "surveys/investigator/study_log", "surveys/investigator/_log_*")
STAFF_PAGES += ("surveys/irb/**/*",)
STAFF_PAGES += ("analysis/record_sets/*", "analysis/releases/*")
STAFF_PAGES += ("base_study", "surveys/builder/base", "surveys/builder/form", "surveys/builder/_[bc]*", "surveys/builder/fields/*")
STAFF_PAGES += ("accounts/logged_out", "surveys/investigator/_preview_choices")
STAFF_PAGES += ("surveys/_study_navigation", "surveys/investigator/invitation", "surveys/investigator/new_account")
STAFF_PAGES += ("analysis/records/*", "analysis/planning/*")
STAFF_PAGES += ("surveys/builder/arm*", "surveys/builder/_files", "surveys/builder/_moves", "surveys/builder/_shown")
STAFF_PAGES += ("surveys/builder/_stimulus_inputs", "surveys/builder/_answer", "surveys/builder/_sensitive")
STAFF_PAGES += tuple(f"surveys/builder/{page}" for page in ("about", "allocation", "direct_questions", "duplicate", "file", "history"))
STAFF_PAGES += tuple(f"surveys/builder/{page}" for page in ("import", "item", "languages", "list", "markdown", "new", "overview"))
STAFF_PAGES += tuple(f"surveys/builder/{page}" for page in ("paste", "planned_tests", "plans", "subgroups", "ways"))
STAFF_PAGES += (
    "surveys/investigator/study_list",
    "surveys/investigator/study_detail",
    "analysis/_counts",
    "analysis/_batch",
)
STAFF_PAGES += ("surveys/builder/publication", "surveys/builder/imports", "surveys/builder/_import_lines", "surveys/builder/export")
STAFF_PAGES += ("analysis/results", "analysis/_[bcfimnpsw]*", "analysis/_direct_group", "analysis/_results")
STAFF_PAGES += ("surveys/entrances/*", "socialaccount/*", "account/*", "accounts/forgotten_password", "mfa/**/*", "allauth/**/*")
STAFF_MODULES = ("analysis/learning/**/*", "analysis/data_sets/*", "analysis/ledger/*", "analysis/sources/**/*", "analysis/inbox/*")
STAFF_MODULES += ("analysis/record_sets/*", "analysis/releases/*", "analysis/models/records", "analysis/packages/licences")
STAFF_MODULES += ("analysis/figures/difficulties", "platform/accounts/views", "surveys/templatetags/*", "surveys/privacy/budgets")
STAFF_MODULES += ("surveys/builder/frame", "surveys/drafting/parts", "surveys/drafting/forms", "surveys/drafting/help")
STAFF_MODULES += ("analysis/records/*", "analysis/live/matrix", "analysis/figures/intervals", "analysis/models/results")
STAFF_MODULES += ("surveys/builder/arms", "surveys/builder/services", "surveys/stimuli/*", "surveys/drafting/watching")
STAFF_MODULES += ("surveys/media/video_files", "surveys/media/audio_files", "surveys/media/services", "surveys/revisions/*")
STAFF_MODULES += ("analysis/deposits/*", "analysis/models/deposits")
STAFF_MODULES += tuple(f"surveys/builder/{page}" for page in ("about", "allocation", "beginnings", "file", "history", "lists"))
STAFF_MODULES += tuple(f"surveys/builder/{page}" for page in ("overview", "planned_tests", "texts"))
STAFF_MODULES += ("analysis/planning/*", "surveys/review/forms", "surveys/lifecycle/steps")
STAFF_MODULES += tuple(f"surveys/studies/{name}" for name in ("consequences", "forms", "next_step", "study_actions", "views"))
STAFF_MODULES += ("surveys/drafting/*", "surveys/allocation/*", "surveys/studies/readiness", "surveys/studies/services", "surveys/ways_in")
STAFF_MODULES += ("surveys/privacy/exact", "surveys/privacy/words", "surveys/reading/apart")
STAFF_MODULES += ("analysis/live/*", "analysis/figures/flow", "analysis/services", "analysis/views")
STAFF_MODULES += (
    "surveys/builder/imports",
    "surveys/imports/**/*",
    "surveys/entrances/*",
    "platform/accounts/login/**/*",
    "platform/accounts/errors",
)
STAFF_MODULES += ("platform/accounts/tokens/*", "platform/accounts/models", "surveys/log/*")
STAFF_MODULES += ("surveys/review/*", "surveys/journey/preview")
STAFF_MODULES += ("surveys/models/review",)
STAFF_PAGES += (
    "surveys/investigator/people",
    "surveys/investigator/codes*",
    "webhooks/*",
    "surveys/preregistration/*",
    "analysis/preregistration/*",
)
STAFF_PAGES += tuple(f"analysis/{name}" for name in ("rehearsal", "_rehearsed", "diagnosis", "_diagnosed"))
STAFF_MODULES += ("surveys/sharing/*", "surveys/models/members", "surveys/recruitment/*", "webhooks/*")
STAFF_MODULES += ("surveys/preregistration/*", "analysis/preregistration/*", "analysis/rehearsal/*", "analysis/diagnosis/*")
STAFF_MODULES += ("surveys/rehearsal/*", "surveys/models/rehearsal")
STAFF_PAGES += tuple(f"surveys/investigator/{name}" for name in ("forget", "words", "preview", "_preview_banner", "_missing_lecture"))
STAFF_PAGES += ("lti/*", "jobs/work")
STAFF_MODULES += ("surveys/retention/*", "lti/views", "platform/jobs/selectors", "surveys/reading/*", "surveys/study_file")
STAFF_MODULES += (
    "surveys/errors",
    "surveys/protocols",
    "surveys/media/language_files",
    "analysis/packages/errors",
    "analysis/packages/rows",
)
# Packages say these in English, and pages in the reader's language.
SENTENCES = ("analysis/packages/privacy_statement", "analysis/packages/content", "analysis/record_sets/package")
SAME = {
    "%(label)s, %(bounds)s",
    "%(where)s: %(problem)s",
    "25 %",
    "75 %",
    "Bootstrap",
    "Budget",
    "Budget ε",
    "Candor",
    "Code",
    "Codes",
    "Link",
    "Plan",
    "Text",
    "Tokens",
    "Variable",
    "Video",
    "Webhooks",
    "p (Holm)",
}
SAME |= {"%(seconds)s s", "%(codecs)s in %(container)s", "%(problem)s", "Arm", "Bots"}
BLOCK = re.compile(r"\{%\s*blocktranslate\b([^%]*)%\}(.*?)\{%\s*endblocktranslate\s*%\}", re.DOTALL)


def words_of_strangers() -> Iterator[str]:
    """Everybody may read these in German, and participants in every language."""
    pages = [TEMPLATES / "home.html", *TEMPLATES.glob("surveys/classroom/*.html"), *TEMPLATES.glob("components/*.html")]
    yield from words_in(pages, [])
    yield from participants_words()


def words_of_staff() -> Iterator[str]:
    pages = [path for name in STAFF_PAGES for path in TEMPLATES.glob(f"{name}.html")]
    yield from words_in(pages, [path for name in STAFF_MODULES for path in ROOT.glob(f"{name}.py")], call=LAZY_CALL)
    yield from (*complaints.ALL, complaints.RECORD, complaints.CHILD)
    yield from (*documents.SENTENCES, *assumptions.ALL, *assumptions.MODELS, *notes.ALL)
    yield from (said for name, said in actions.registered().items() if not name.startswith("test."))
    for name in SENTENCES:
        for node in ast.walk(ast.parse((ROOT / f"{name}.py").read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "_" and isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value)


def words_in(pages: Iterable[Path], modules: Iterable[Path], *, call: re.Pattern[str] = CALL) -> Iterator[str]:
    for path in pages:
        source = path.read_text(encoding="utf-8")
        yield from ((double or single).replace("%", "%%") for double, single in TRANSLATE.findall(source))
        for options, words in BLOCK.findall(source):
            said = re.sub(r"\{\{\s*(\w+)\s*\}\}", r"%(\1)s", words.replace("%", "%%"))
            yield said.split("{%%")[0] if "count " in options else said
    for module in modules:
        yield from call.findall(module.read_text(encoding="utf-8"))


def kinds_of(error: type[SurveyError]) -> Iterator[type[SurveyError]]:
    for kind in error.__subclasses__():
        yield kind
        yield from kinds_of(kind)


def untranslated(raised: ast.Call) -> Iterator[ast.expr]:
    """Sentences among the arguments of an error, alone or in a list or dictionary, that do not go through gettext."""
    for node in [*raised.args]:
        for part in [node, *getattr(node, "elts", []), *getattr(node, "values", [])]:
            words = "".join(found.value for found in ast.walk(part) if isinstance(found, ast.Constant) and isinstance(found.value, str))
            if isinstance(part, ast.Constant | ast.JoinedStr) and len(re.findall(r"[A-Za-z]{2,}", words)) > 2:
                yield part


def test_every_word_on_a_page_that_is_there_in_german_is_translated() -> None:
    with (TEMPLATES / "locale/de/LC_MESSAGES/django.mo").open("rb") as compiled:
        german = gettext.GNUTranslations(compiled)
    words = {*words_of_strangers(), *words_of_staff()}
    assert len(words) > 700
    assert sorted(word for word in words if in_language(german, word) == word) == sorted(SAME)


def test_a_data_set_and_a_record_are_two_words_in_german() -> None:
    """“Datensatz” is the word for either in everyday German; a page about both must tell them apart."""
    catalogue = read_catalogue((TEMPLATES / "locale/de/LC_MESSAGES/django.po").read_text(encoding="utf-8"))
    confused = []
    for entry in catalogue.entries.values():
        sets, records = re.search(r"\bdata sets?\b", entry.one, re.IGNORECASE), re.search(r"\brecords?\b", entry.one, re.IGNORECASE)
        said = " ".join(entry.said)
        if (re.search("Datens[aä]tz", said) and sets and not records) or ("Datenbest" in said and not sets):
            confused.append(entry.one)
    assert confused == []


def test_an_english_term_has_one_german_word() -> None:
    """The table of docs/languages.md: each term, its words, and those that it must not have without one of them."""
    table = (ROOT / "docs/languages.md").read_text(encoding="utf-8").partition("| English | German | Not |\n|---|---|---|\n")[2]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.partition("\n\n")[0].splitlines()]
    catalogue = read_catalogue((TEMPLATES / "locale/de/LC_MESSAGES/django.po").read_text(encoding="utf-8"))
    words = {term.split(" of ")[0]: set[str]() for term, _german, _wrong in rows}
    for term, german, _wrong in rows:
        words[term.split(" of ")[0]] |= {word.removeprefix("eine Studie ").rstrip("e") for word in german.split(", ")}
    found = []
    for term, _german, wrong in rows:
        name = term.split(" of ")[0]
        asked = re.compile(rf"\b{re.escape(name)}s?\b(?! in\b| out\b)", re.IGNORECASE)
        forbidden = re.compile(rf"\b({'|'.join(map(re.escape, wrong.split(', ')))})[ens]?\b")
        for entry in catalogue.entries.values() if wrong else ():
            said = " ".join(entry.said)
            has_word = any(word.lower() in said.lower() for word in words[name])
            if asked.search(entry.one) and forbidden.search(said) and not has_word:
                found.append((term, entry.one))
    assert len(rows) > 15
    assert found == []


def test_no_german_heading_has_a_word_that_is_wider_than_a_telephone() -> None:
    """On 320 pixels a heading has room for twenty letters; a longer word is broken anywhere."""
    entries = read_catalogue((TEMPLATES / "locale/de/LC_MESSAGES/django.po").read_text(encoding="utf-8")).entries.values()
    short = [entry for entry in entries if len(entry.one.split()) <= 4]
    assert len(short) > 1000
    assert [entry.one for entry in short if re.search(r"[A-Za-zÄÖÜäöüß]{21}", " ".join(entry.said))] == []


def in_language(catalogue: gettext.GNUTranslations, word: str) -> str:
    """A word that has a plural is not found without a number by every Python."""
    return with_number if (with_number := catalogue.ngettext(word, "", 1)) != word else catalogue.gettext(word)


def test_translations_keep_their_placeholders() -> None:
    with (TEMPLATES / "locale/de/LC_MESSAGES/django.mo").open("rb") as compiled:
        german = gettext.GNUTranslations(compiled)
    placeholder = re.compile(r"%\(\w+\)s|\{\w+\}")
    for word in {*words_of_strangers(), *words_of_staff()}:
        assert sorted(placeholder.findall(in_language(german, word))) == sorted(placeholder.findall(word)), word


def test_every_error_that_people_read_takes_its_words_from_the_catalogue() -> None:
    found = []
    for path in project_files(".py"):
        if path.parts[0] not in ("surveys", "analysis", "webhooks", "lti", "platform") or {"bots", "sample", "audit", "config"} & set(
            path.parts
        ):
            continue
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and (name := ast.unparse(node.func).rpartition(".")[2]).endswith("Error"):
                found += [f"{path}:{part.lineno}" for part in untranslated(node) if name not in NOT_FOR_PEOPLE]
    assert found == []


def test_the_titles_of_errors_come_from_the_catalogue() -> None:
    assert [kind.__name__ for kind in kinds_of(SurveyError) if isinstance(kind.title, str) or isinstance(kind.advice, str)] == []


def said_at_once(code: ast.AST, words: set[str]) -> Iterator[int]:
    """The lines of calls of `words` that run when the module is loaded, in the language of whoever comes first."""
    for one in ast.iter_child_nodes(code):
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in words:
            yield one.lineno
        if not isinstance(one, ast.FunctionDef | ast.Lambda):
            yield from said_at_once(one, words)


def test_no_words_are_translated_before_somebody_reads_them() -> None:
    broken = (
        "from django.utils.translation import gettext as _\nclass Form:\n    label = _('Reason')\n    def said(self): return _('Later')\n"
    )
    files = {"broken.py": broken} | {str(one): (ROOT / one).read_text() for one in project_files(".py") if one.parts[0] != "tests"}
    found = []
    for name, source in files.items():
        code = ast.parse(source)
        given = [one for one in ast.walk(code) if isinstance(one, ast.ImportFrom) and one.module == "django.utils.translation"]
        words = {one.asname or one.name for line in given for one in line.names if one.name in {"gettext", "ngettext", "pgettext"}}
        found += [f"{name}:{line}" for line in said_at_once(code, words)]
    assert found == ["broken.py:3"]
