"""Mistakes in a document are said in Candor's words, whatever somebody wrote and wherever."""

import json
import re
import time
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from surveys.definition import StudyDefinition
from surveys.errors import DefinitionError
from surveys.questions.parts import FORMS
from surveys.study_file import define
from tests.factories import document

Path = tuple[str | int, ...]
OF_PYDANTIC = re.compile(r"Input|[Ss]hould|\bvalid\b|permitted|Field required|\[(?:dict|literal|constrained)")


def places(value: object, path: Path = ()) -> Iterator[Path]:
    """Every place of a document but its root."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        yield (*path, name)
        yield from places(part, (*path, name))


def problems_with(wrong: object, path: Path) -> list[str]:
    """The complaints about the sample study with a wrong value in one place."""
    changed: Any = deepcopy(document())
    part = changed
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = wrong
    try:
        define(changed)
    except DefinitionError as error:
        return error.problems
    return []


@pytest.mark.parametrize("wrong", [None, "", "z" * 30_000, "A b", -1, 0.5, 10**30, float("nan"), True, [], {}, ["a"], {"zzz": 1}], ids=repr)
def test_no_sentence_is_that_of_pydantic(wrong: object) -> None:
    sentences = [sentence for path in places(document()) for sentence in problems_with(wrong, path)]
    assert sentences
    assert not list(filter(OF_PYDANTIC.search, sentences))


def test_a_mistake_in_a_kind_of_question_has_its_place_in_the_document() -> None:
    changed = deepcopy(document())
    changed["background"][0]["options"] = []
    del changed["background"][0]["role"]
    with pytest.raises(DefinitionError) as refused:
        define(changed)
    assert refused.value.fields == [
        ("background.0.role", "this part is missing"),
        ("background.0.options", "expected at least 2 items, got nothing"),
    ]


def test_every_form_of_a_text_has_words() -> None:
    patterns = {
        json.loads(found) for found in re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', json.dumps(StudyDefinition.model_json_schema()))
    }
    assert patterns <= set(FORMS)


OF_A_TEXT: dict[str, tuple[object, tuple[str, str]]] = {
    "a number": (5, ("title", "expected a text, or one for each language, got 5")),
    "nothing": (None, ("title", "expected a text, or one for each language, got nothing")),
    "no words": ("  ", ("title", "expected at least 1 character, got nothing")),
    "a control character": ("a\0b", ("title", "expected a text without control characters, got 'a\\x00b'")),
    "no language": ({}, ("title", "expected at least 1 item, got nothing")),
    "a number in a language": ({"en": "A", "de": 5}, ("title.de", "expected a text, got 5")),
    "no words in a language": ({"en": "A", "de": ""}, ("title.de", "expected at least 1 character, got nothing")),
    "a name of no language": (
        {"texts": "A"},
        ("title.texts", "expected the code of a language in small letters, such as en or zh-hans, got 'texts'"),
    ),
}


@pytest.mark.parametrize(("wrong", "said"), OF_A_TEXT.values(), ids=OF_A_TEXT.keys())
def test_a_mistake_in_a_text_is_said_once_of_the_form_that_was_meant(wrong: object, said: tuple[str, str]) -> None:
    with pytest.raises(DefinitionError) as refused:
        define(document() | {"title": wrong})
    assert refused.value.fields == [said]


def test_names_that_are_there_again_and_again_are_told_in_no_time() -> None:
    roles = [{"name": "Doe, Maria", "roles": ["data-curation"] * 100_000}]
    began = time.process_time()
    with pytest.raises(DefinitionError):
        define(document() | {"random_order": ["quiz"] * 100_000, "publication": {"creators": roles}})
    assert time.process_time() - began < 3
