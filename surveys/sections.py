"""A study file in sections, for editing one at a time. Put one after the other, the sections are the study file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from surveys.definition import StudyDefinition
from surveys.errors import DefinitionError
from surveys.study_file import dump, read_study_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    name: str
    title: str
    keys: tuple[str, ...]
    help: str
    example: str


SECTIONS = (
    Section(
        name="about",
        title="About",
        keys=("slug", "title", "summary", "contact", "languages", "entry"),
        help="A text is one string for all languages, or one for each: {en: …, de: …}. entry.kind: open, codes, prolific, sona.",
        example=(
            "slug: my-study\ntitle: My study\nsummary: Watch a lecture and answer a few questions.\n"
            "contact: lab@example.org\nlanguages: [en]\n"
        ),
    ),
    Section(
        name="consent_text", title="Consent", keys=("consent",), help="Markdown.", example="consent: |\n  ## What this is about\n\n  …\n"
    ),
    Section(
        name="arms_and_videos",
        title="Arms and videos",
        keys=("arms", "control", "watching"),
        help="At least two arms with weights; the names of video, captions and poster files are those of the uploads below.",
        example=(
            "arms:\n- name: control\n  label: Slides only\n  video:\n    sources: [slides.mp4]\n    captions: {en: slides.vtt}\n"
            "- name: treatment\n  label: Slides with the instructor\n"
            "  video:\n    sources: [instructor.mp4]\n    captions: {en: slides.vtt}\n"
            "control: control\nwatching: {mode: required, share: 0.8}\n"
        ),
    ),
    Section(
        name="background_questions",
        title="Background questions",
        keys=("background",),
        help="kind: single_choice, multiple_choice, number or group; role: quasi_identifier, sensitive or auxiliary.",
        example=(
            "background:\n- kind: number\n  name: year\n  text: In which year of your studies are you?\n  role: quasi_identifier\n"
            "  minimum: 1\n  maximum: 8\n"
        ),
    ),
    Section(
        name="quiz_items", title="Quiz", keys=("quiz",), help="Items with options and the name of the right one as answer.", example=""
    ),
    Section(
        name="sensitive_questions",
        title="Sensitive questions",
        keys=("questions",),
        help="Yes-or-no questions that are answered with the die.",
        example="questions:\n- name: attention\n  text: Did your attention wander?\n",
    ),
    Section(
        name="die_design",
        title="Die",
        keys=("die", "minimum_seconds"),
        help="Which faces say yes and no in each of two or three subsamples; all others, at least one, ask for the truth.",
        example=(
            "die:\n  sides: 6\n  subsamples:\n    '1': {yes: [1], no: [2, 3]}\n    '2': {yes: [1, 2], no: [3]}\n  cheaters: any\n"
            "minimum_seconds: 10\n"
        ),
    ),
    Section(
        name="direct_questions",
        title="Direct questions",
        keys=("direct_group",),
        help="Optional: a share of people (at most 0.5) is asked without a die, for comparison. Everybody is asked for consent first.",
        example="",
    ),
    Section(
        name="allocation_scheme",
        title="Allocation",
        keys=("allocation",),
        help="scheme: simple, complete or permuted_block.",
        example="allocation:\n  scheme: permuted_block\n  planned_participants: 1000\n  block_multiples: [1, 2, 3]\n",
    ),
    Section(
        name="debrief_text",
        title="Debrief",
        keys=("debrief",),
        help="Markdown; shown on the last page.",
        example="debrief: |\n  Thank you.\n",
    ),
    Section(
        name="plans_for_the_data",
        title="Plans for the data",
        keys=("analysis_plan", "release_plan", "retention"),
        help="For the review board, all optional: what you will compute and when you may look, what will be published, "
        "and after how many months background and quiz answers are deleted.",
        example="retention: {months_after_closing: 12}\n",
    ),
)


def sections_of(document: Mapping[str, Any]) -> dict[str, str]:
    """The text of every section of a stored definition."""
    return {
        section.name: dump(present) if (present := {k: document[k] for k in section.keys if k in document}) else "" for section in SECTIONS
    }


def read_sections(texts: Mapping[str, str]) -> tuple[StudyDefinition | None, list[tuple[str, str]]]:
    """The definition that the sections make together, or what is wrong as (section, sentence); lines are counted within the section."""
    whole, starts = "", []
    for section in SECTIONS:
        starts.append((whole.count("\n"), section))
        whole += texts[section.name].rstrip("\n") + "\n"
    try:
        return read_study_file(whole, source=""), []
    except DefinitionError as error:
        return None, [_placed(problem, starts) for problem in error.problems]


def _placed(problem: str, starts: list[tuple[int, Section]]) -> tuple[str, str]:
    message = problem.removeprefix(", ").removeprefix(": ")
    path = re.match(r"(?:line \d+[^:]*: )?([a-z_]+)", message)
    line = re.match(r"line (\d+)", message)
    by_key = next((section for _start, section in starts if path and path[1] in section.keys), None)
    number = int(line[1]) if line else 1
    start, by_line = next((start, section) for start, section in reversed(starts) if start < number)
    if by_key is None or by_key == by_line:
        return by_line.name, re.sub(r"^line \d+", f"line {number - start}", message)
    return by_key.name, re.sub(r"^line \d+[^:]*: ", "", message)
