"""Study files: written files can be read again, and unreadable parts are named with their line."""

import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as some

from surveys.errors import DefinitionError
from surveys.reading.study_files import MAXIMUM_CHARACTERS, plain_values
from surveys.study_file import define, document_of, dump, read_study_file, write_study_file
from tests.factories import SAMPLE, definition, document

SAMPLE_TEXT = SAMPLE.read_text(encoding="utf-8")


def problems_of(text: str) -> list[str]:
    with pytest.raises(DefinitionError) as raised:
        read_study_file(text, source="a.yaml")
    return raised.value.problems


def line_of(text: str, words: str) -> int:
    """The number of the first line that holds `words`."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if words in line)


# Words that YAML 1.1 takes for other types, and characters that some writers lose.
texts = some.text(
    some.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t")
    | some.sampled_from(["é", "—", "😀", "\u2028", "\x85", "#", ":"]),
    min_size=1,
    max_size=60,
).filter(lambda text: text.strip() and "\x85" not in text) | some.sampled_from(
    [
        "yes",
        "no",
        "on",
        "off",
        "null",
        "~",
        "1",
        "1.5",
        "2020-01-01",
        "2020-01-01T10:00:00Z",
        "1e3",
        "12:30:00",
        "0x1F",
        "0o17",
        "1_000",
        "1,000",
        ".5",
        ".inf",
        "y",
        "N",
        "=",
        "<<",
        "1:30",
        "true",
        "- a",
        "a: b",
        "&a",
        "*a",
        "!x",
        "%x",
        "'",
        '"',
        "|",
        "> x",
    ]
)
names = some.from_regex(r"[a-z0-9][a-z0-9_-]{0,12}", fullmatch=True)
words = texts | some.fixed_dictionaries({"en": texts, "de": texts})


ENTRIES: list[dict[str, Any]] = [
    {},
    {"kind": "codes"},
    {"listed": True},
    {"kind": "prolific", "completion_url": "https://example.org/?cc=1"},
    {"kind": "mturk", "declined_url": "https://example.org/no", "panel_study": "3HIT"},
    {
        "listed": True,
        "ways": [
            {"name": "poster", "label": "In the library"},
            {"kind": "class", "name": "lecture"},
            {
                "kind": "sona",
                "completion_url": "https://example.org/{identifier}",
                "screened_out_url": "https://example.org/",
                "name": "sona",
            },
        ],
    },
]


@some.composite
def documents(draw: some.DrawFn) -> dict[str, Any]:
    """Plain values of studies of many kinds."""
    options = draw(some.lists(names, min_size=2, max_size=4, unique=True))
    choices = [{"name": name, "text": draw(words)} for name in options]
    kinds: list[dict[str, Any]] = [
        {"kind": "single_choice", "name": "q1", "text": draw(words), "role": "sensitive", "options": choices},
        {"kind": "multiple_choice", "name": "q2", "text": draw(words), "hint": draw(words), "role": "auxiliary", "options": choices},
        {"kind": "number", "name": "q3", "text": draw(words), "role": "quasi_identifier", "minimum": draw(some.integers(-10, 0)),
         "maximum": draw(some.floats(0.5, 1e6)), "whole": False, "unit": draw(words)},
    ]  # fmt: skip
    group = {
        "kind": "group",
        "name": "q4",
        "text": draw(words),
        "fields": kinds[: draw(some.integers(1, 3))],
        "at_most": draw(some.integers(1, 5)),
    }
    return document(
        title=draw(words),
        consent=draw(words),
        debrief=draw(words),
        arms=[{"name": "slides", "label": draw(words)}, {"name": "face", "label": draw(words), "reading": {"text": "A *page*."}}],
        background=draw(some.permutations([*kinds, group]))[: draw(some.integers(0, 4))],
        quiz=[{"name": "item", "text": draw(words), "options": choices, "answer": options[0], "shuffle": draw(some.booleans())}],
        questions=[
            {"name": name, "text": draw(words), "yes": draw(words)} for name in draw(some.lists(names, min_size=1, max_size=3, unique=True))
        ],
        entry=draw(some.sampled_from(ENTRIES)),
    )


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_way_in_is_written_as_it_was_read_so_that_hashes_of_protocols_stay(entry: dict[str, Any]) -> None:
    assert document_of(definition(entry=entry)).get("entry", {}) == entry


class EveryWord(yaml.SafeLoader):
    """YAML 1.1 as its text has it: with the one-letter booleans, which PyYAML leaves out, and the numbers of YAML 1.2."""

    bool_values = yaml.SafeLoader.bool_values | {"y": True, "n": False}

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        return int(node.value, 8) if node.value.startswith("0o") else super().construct_yaml_int(node)


EveryWord.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:y|Y|n|N)$"), list("yYnN"))
EveryWord.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+(?:[eE][-+]?[0-9]+)$"), list("-+0123456789"))
EveryWord.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^0o[0-7]+$"), ["0"])
EveryWord.add_constructor("tag:yaml.org,2002:int", EveryWord.construct_yaml_int)
WORDS = ("yes", "No", "ON", "off", "y", "N", "true", "null", "~", "1e3", "1E-3", "12:30:00", "190:20:30.15", "2020-01-01", "0x1F", "0o17",
         "0b1", "017", "1_000", "+1", "-.inf", ".NaN", "=", "<<")  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_what_other_readers_take_for_something_else_is_quoted(word: str) -> None:
    assert yaml.load(dump({word: word}), Loader=EveryWord) == {word: word}
    try:
        unquoted = yaml.load(f"{word}: {word}", Loader=EveryWord)
    except yaml.YAMLError:
        return
    assert unquoted != {word: word}, "the control: without quotation marks it is read as something else"


@pytest.mark.parametrize("word", ["b2", "face1", "Law", "a year", "yesterday", "1st", "3 to 5", "e3"])
def test_other_words_stay_plain(word: str) -> None:
    assert dump({"a": word}) == f"a: {word}\n"


@given(documents())
def test_a_written_file_reads_back_the_same(plain: dict[str, Any]) -> None:
    study = definition(**plain)
    written = write_study_file(study)
    assert read_study_file(written) == study
    assert yaml.load(written, yaml.CSafeLoader) == document_of(study), "readers of YAML 1.1 read it differently"
    assert read_study_file(json.dumps(plain, indent="\t")) == study


def test_the_sample_reads_back_the_same_and_stays_readable() -> None:
    study = read_study_file(SAMPLE_TEXT)
    text = write_study_file(study)
    assert read_study_file(text) == study
    assert "consent:\n  en: |-\n    ## What this is about\n" in text
    assert "'yes': [1]" in text


def test_json_is_read_as_well() -> None:
    study = read_study_file(SAMPLE_TEXT)
    assert read_study_file(json.dumps(document_of(study))) == study


def test_yes_and_no_are_words_and_true_and_false_are_not() -> None:
    study = definition(questions=[{"name": "yes", "text": "no", "yes": "on", "no": "off"}])
    text = write_study_file(study)
    assert "- name: 'yes'\n  text: 'no'\n  'yes': 'on'\n  'no': 'off'\n" in text
    assert read_study_file(text) == study
    assert read_study_file(text.replace("'yes'", "yes").replace("'no'", "no").replace("'on'", "on").replace("'off'", "off")) == study
    shuffled = text.replace("answer: alike", "answer: alike\n  shuffle: false")
    assert read_study_file(shuffled).quiz[0].shuffle is False
    assert "quiz[0].shuffle: expected true or false" in problems_of(text.replace("answer: alike", "answer: alike\n  shuffle: maybe"))[0]


WRITTEN = ["1:30:00", "1:30.5", "0x1F", "0b101", "1_000.5", "2024-01-31", "no", "On", "Null", ".inf", ".nan", "=", "+.5_0"]


@pytest.mark.parametrize("written", WRITTEN)
def test_a_word_means_what_its_writer_sees(written: str) -> None:
    """YAML 1.1 makes 5400 of 1:30:00, 10 of 012, False of no."""
    text = write_study_file(definition(title="The Title", minimum_seconds=77))
    assert read_study_file(text.replace("The Title", written)).title.root == written
    (problem,) = problems_of(text.replace("77", written))
    assert f"minimum_seconds: expected a whole number, got '{written}'" in problem


def test_a_number_with_zeros_before_it_is_decimal() -> None:
    assert read_study_file(write_study_file(definition(minimum_seconds=77)).replace("77", "012")).minimum_seconds == 12


@pytest.mark.parametrize("written", ["12", "-3", "+4", "0.5", "1e3", "1E+3", "-2.5e-3", "1.", ".5"])
def test_a_number_is_one_as_in_json(written: str) -> None:
    assert plain_values(f"seen: {written}", source="study file")["document"] == {"seen": float(written)}


def test_a_mistake_in_the_values_is_named_with_its_line() -> None:
    text = SAMPLE_TEXT.replace("    maximum: 8", "    maximum: 0").replace("control: slides", "control: radio")
    assert problems_of(text) == [f"a.yaml, line {line_of(text, 'kind: number')}: background[1]: minimum must be below maximum, got 1 and 0"]


@pytest.mark.parametrize(
    ("right", "wrong", "place"),
    [
        ("control: slides", "control: radio", "control: radio"),
        ("block_multiples: [1, 2, 3]", "strata: [shoe]", "strata: [shoe]"),
        ("block_multiples: [1, 2, 3]", "unit: cluster", "scheme: permuted_block"),
        ("{yes: [1, 2], no: [3]}", "{yes: [1], no: [2, 3]}", "sides: 6"),
        ("text: {en: Phone, de: Handy}", "text: {en: Phone}", "name: phone"),
    ],
)
def test_a_rule_between_parts_is_named_with_the_line_of_its_part(right: str, wrong: str, place: str) -> None:
    text = SAMPLE_TEXT.replace(right, wrong)
    (problem,) = problems_of(text)
    assert problem.startswith(f"a.yaml, line {line_of(text, place)}: "), problem


def test_a_misspelt_key_is_named_with_its_line() -> None:
    text = SAMPLE_TEXT.replace("minimum_seconds: 20", "minimun_seconds: 20")
    assert problems_of(text) == [f"a.yaml, line {line_of(text, 'minimun')}: minimun_seconds: there is no part of this name"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("slug: [a", "a.yaml, line 1, column 9: not readable as YAML or JSON: expected ',' or ']', but got '<stream end>'"),
        ("slug: a\ntitle: b\nslug: c\n", "a.yaml, line 3, column 1: not readable as YAML or JSON: the key 'slug' stands twice"),
        ("a: {b: 1, b: 2}", "a.yaml, line 1, column 11: not readable as YAML or JSON: the key 'b' stands twice"),
        ("a: &x 1\nb: *x\n", "a.yaml, line 2, column 4: not readable as YAML or JSON: aliases (*name) are not allowed"),
        (
            "a: !!python/object/apply:os.system ['true']",
            "a.yaml, line 1, column 4: not readable as YAML or JSON: could not determine a constructor",
        ),
        ("a: \0", "a.yaml: not readable as YAML or JSON"),
        ("a: 1\n---\nb: 2\n", "a.yaml, line 2, column 1: not readable as YAML or JSON: but found another document"),
        ("", "a.yaml: expected a mapping with title, consent, arms …, got nothing"),
        ("- a\n- b\n", "a.yaml: expected a mapping with title, consent, arms …, got list"),
        ("{}", "a.yaml, line 1: slug: this part is missing"),
        ("{[a]: b}", "a.yaml, line 1, column 2: not readable as YAML or JSON: a key must be one word"),
    ],
)
def test_unreadable_parts_are_named_with_their_place(text: str, sentence: str) -> None:
    assert problems_of(text)[0].startswith(sentence), problems_of(text)


def test_aliases_cannot_blow_a_file_up() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 12)]
    assert "aliases (*name) are not allowed" in problems_of("\n".join(lines))[0]


NESTED = {
    "lists": "[" * 50_000,
    "mappings": "{a: " * 20_000,
    "indented": "\n".join(" " * depth + "a:" for depth in range(600)),
    "dashes": "- " * 50_000,
}


@pytest.mark.parametrize("nested", NESTED.values(), ids=NESTED)
def test_deep_nesting_is_refused_and_not_a_crash(nested: str) -> None:
    assert problems_of(nested)[0].startswith("a.yaml")


def test_a_huge_file_is_refused_before_it_is_read() -> None:
    assert problems_of("#" * (MAXIMUM_CHARACTERS + 1)) == ["a.yaml: a study file has at most 1,000,000 characters, this one has 1,000,001"]


@pytest.mark.parametrize("parts", [{"quiz": [{}] * 400_000}, {f"n{number}": 1 for number in range(60_000)}, [[0] * 30_000] * 2])
def test_a_document_of_very_many_wrong_parts_is_refused_before_each_makes_an_error(parts: object) -> None:
    """Four errors for each item of a megabyte took a gigabyte of a web process."""
    with pytest.raises(DefinitionError, match=r"^Expected a study of at most 50.000 items and named values, found \d+.\d+\.$"):
        define(parts)


def test_a_long_wrong_value_does_not_fill_the_screen() -> None:
    (problem,) = problems_of(SAMPLE_TEXT.replace("slug: lecture-videos", "slug: " + "x" * 5000))
    assert problem.endswith("… (5,002 characters)")
    assert len(problem) < 250


def test_defaults_are_not_written() -> None:
    text = write_study_file(definition(watching=None, minimum_seconds=None))
    assert "watching" not in text
    assert "block_multiples" not in text
