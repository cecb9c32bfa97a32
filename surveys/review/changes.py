"""Differences between two versions of a protocol, by section: texts word by word, values as they were and are."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from django.utils.translation import pgettext

from surveys.definition import StudyDefinition
from surveys.drafting.translations import outdated_in, remembering

# Where in the packet a part of the study file is shown; the rest belongs to the overview.
SECTION_OF_PART = {
    "consent": "consent",
    "arms": "arms",
    "control": "arms",
    "watching": "arms",
    "background": "background",
    "random_order": "background",
    "attention": "background",
    "quiz": "quiz",
    "questions": "questions",
    "die": "die",
    "minimum_seconds": "die",
    "direct_group": "die",
    "allocation": "allocation",
    "analysis": "analysis",
    "subgroups": "analysis",
    "analysis_plan": "analysis",
    "privacy_budget": "budget",
    "retention": "retention",
    "release_plan": "release",
    "publication": "release",
    "debrief": "debrief",
    "files": "files",
}
WORDS_AROUND = 12
MOST_PAIRS = 200_000
"""The most pairs of equal words in two texts that are compared word by word: two seconds of work, and more than people write."""
WORDS, LINES = r"\n+|\S+", r"\n+|.+"
NO_TEXTS = {"captions", "die", "faces", "files"}
"""Parts of the file in which a name may look like a language without being one of a text."""
SAYS_NOTHING = (("ordered", False), ("purpose", "outcome"))
"""Values of every sensitive question of the usual kind."""
# The file keeps these as words from a list, in which an underscore stands for a space.
FROM_A_LIST = ("kind", "role", "scheme", "mode", "cheaters", "worse", "attention", "precision", "purpose")
NAMED = ("captions", "cheaters", "faces", "families", "files", "margins", "subsamples", "weights", "words")
"""Parts of the file whose keys are names that somebody gave, such as the answers that a die has faces for."""


def section_of(part: str) -> str:
    """The section of the packet in which this part of the study file is shown."""
    return SECTION_OF_PART.get(part, "overview")


Path = tuple[str, ...]


class Word(str):
    """A word of the study file, which its readers see in their language. Names and texts, which somebody wrote, are no such words."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Consecutive words that are the same in both versions, or present in only one. `kind`: same, removed or added."""

    kind: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One text or value that differs. `old` or `new` is empty where the version lacks it.

    `path` leads to it in the study file; a language in it goes by its name. `translation` is said of a translation that stayed although
    its original changed: `outdated`, or `confirmed` as still right.
    """

    section: str
    path: Path
    old: str
    new: str
    translation: str = ""

    @property
    def label(self) -> str:
        """Where in the study file."""
        return " › ".join(part.replace("_", " ") for part in self.path)

    @property
    def place(self) -> str:
        """Where, in the reader's language."""
        return " › ".join(map(in_words, self.path))

    @property
    def was(self) -> str:
        return in_words(self.old)

    @property
    def now(self) -> str:
        return in_words(self.new)

    @property
    def is_text(self) -> bool:
        return " " in self.was.strip() or " " in self.now.strip()

    @property
    def runs(self) -> list[Run]:
        return word_runs(self.was, self.now)


def changes_between(
    old: StudyDefinition,
    new: StudyDefinition,
    *,
    old_files: Mapping[str, str],
    new_files: Mapping[str, str],
    language_names: Mapping[str, str],
) -> list[Change]:
    """Everything that differs, in the order of the study file. Files are given as name → SHA-256, languages as code → name."""
    before = dict(_leaves(old.model_dump(mode="json", exclude={"translations"}) | {"files": dict(old_files)}))
    after = dict(_leaves(new.model_dump(mode="json", exclude={"translations"}) | {"files": dict(new_files)}))
    names = {code: language_names.get(code, code) for code in (*old.languages, *new.languages)}
    outdated = {(one.language, one.original, one.translation) for one in outdated_in(remembering(new, before=remembering(old)))}
    found = []
    for path in [*after, *(path for path in before if path not in after)]:
        was, now = before.get(path, ""), after.get(path, "")
        if was != now:
            found.append(Change(section=section_of(path[0]), path=_readable(path, names), old=was, new=now))
            for code, kept in _kept_translations(path, before, after, languages=new.languages):
                state = "outdated" if (code, now, kept) in outdated else "confirmed"
                beside = _readable((*path[:-1], code), names)
                found.append(Change(section=section_of(path[0]), path=beside, old=kept, new=kept, translation=state))
    return found


def _kept_translations(
    path: Path, before: Mapping[Path, str], after: Mapping[Path, str], *, languages: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """The translations that stayed as they were beside an original that changed, with their language."""
    if path[-1] != languages[0] or NO_TEXTS & {part for part in path if isinstance(part, Word)}:
        return
    for code in languages[1:]:
        beside = (*path[:-1], code)
        if beside in after and after[beside] == before.get(beside):
            yield code, after[beside]


def word_runs(old: str, new: str) -> list[Run]:
    """Both texts as runs of words; long equal runs keep only the words next to a change."""
    words, others = _parts(old.strip(), new.strip())
    runs = []
    steps = SequenceMatcher(None, words, others, autojunk=False).get_opcodes()
    for number, (kind, start, end, other_start, other_end) in enumerate(steps):
        if kind == "equal":
            runs.append(Run(kind="same", words=_shortened(words[start:end], first=number == 0, last=number == len(steps) - 1)))
            continue
        if start < end:
            runs.append(Run(kind="removed", words=_joined(words[start:end])))
        if other_start < other_end:
            runs.append(Run(kind="added", words=_joined(others[other_start:other_end])))
    return runs


def _parts(old: str, new: str) -> tuple[list[str], list[str]]:
    """Both texts as words and line ends, without the spaces between: the last word of one is the same word in the middle of the other.

    Texts that say the same words again and again would take hours. They are lines, and where these are alike too, each is one part.
    """
    for part in (WORDS, LINES):
        these, those = re.findall(part, old), re.findall(part, new)
        often = Counter(those)
        if sum(often[one] for one in these) <= MOST_PAIRS:
            return these, those
    return [old], [new]


def _joined(words: list[str]) -> str:
    return "".join(word if word.startswith("\n") else f"{word} " for word in words)


def in_words(part: str) -> str:
    """A word of the study file in the reader's language; all else as somebody wrote it."""
    return pgettext("study file", part.replace("_", " ")) if isinstance(part, Word) else part


def _readable(path: Path, languages: Mapping[str, str]) -> Path:
    """Texts and captions with the name of their language."""
    *places, last = path
    if places and not {"die", "faces"} & {part for part in places if isinstance(part, Word)} and last in languages:
        return (*places, languages[last])
    return path


def _shortened(words: list[str], *, first: bool, last: bool) -> str:
    kept_before, kept_after = (0 if first else WORDS_AROUND), (0 if last else WORDS_AROUND)
    if len(words) <= kept_before + kept_after:
        return _joined(words)
    return _joined([*words[:kept_before], "…", *words[len(words) - kept_after :]])


def _leaves(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every text and value with its path; the parts of a list go by their names, so that their order is a value of its own."""
    match value:
        case None:
            return
        case dict():
            for name, inner in value.items():
                if (name, inner) in SAYS_NOTHING:
                    continue
                yield from _leaves(inner, (*path, str(name) if _is_name(path) else Word(name)))
        case list() if value and all(isinstance(inner, dict) and "name" in inner for inner in value):
            yield (*path, Word("order")), ", ".join(inner["name"] for inner in value)
            for inner in value:
                yield from _leaves({key: one for key, one in inner.items() if key != "name"}, (*path, inner["name"]))
        case list():
            yield path, ", ".join(str(inner) for inner in value)
        case bool():
            yield path, Word("yes" if value else "no")
        case float() if value.is_integer():
            yield path, str(int(value))
        case str() if path[-1] in FROM_A_LIST or path == ("allocation", "unit"):
            yield path, Word(value.replace("_", " "))
        case _:
            yield path, str(value)


def _is_name(path: Path) -> bool:
    """Whether keys below this path are names. The faces of a die have two levels of them: subsamples, and answers."""
    return any(isinstance(part, Word) and part in named for part, named in zip(path[::-1], (NAMED, ("faces",)), strict=False))
