"""Every complaint of the API about a field says what was expected and what came, and repeats neither secrets nor control characters."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import QueryDict
from django.utils import translation
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from accounts.tokens.api_access import checked
from config.error_responses import problem_of

OURS = "Ours: even numbers only."


def even(number: int) -> None:
    if number % 2:
        raise serializers.ValidationError(OURS, code="odd" if number == 5 else None)


class Inner(serializers.Serializer[object]):
    day = serializers.DateField()


class Sent(serializers.Serializer[object]):
    whole = serializers.IntegerField(min_value=1, max_value=60, required=False)
    even = serializers.IntegerField(validators=[even], required=False)
    share = serializers.FloatField(min_value=0.5, required=False)
    title = serializers.CharField(max_length=5, required=False)
    sure = serializers.BooleanField(required=False)
    kind = serializers.ChoiceField(choices=["table", "texts"], required=False)
    many = serializers.ChoiceField(choices=[f"choice {number}" for number in range(999)], required=False)
    day = serializers.DateField(required=False)
    at = serializers.DateTimeField(required=False)
    address = serializers.URLField(required=False)
    slug = serializers.RegexField("^[a-z]+$", error_messages={"invalid": "Ours: small letters."}, required=False)
    names = serializers.ListField(child=serializers.CharField(max_length=3), max_length=2, allow_empty=False, required=False)
    one = serializers.ListField(child=serializers.CharField(max_length=1), min_length=1, max_length=2, required=False)
    by_name = serializers.DictField(child=serializers.IntegerField(), required=False)
    file = serializers.FileField(required=False)
    inner = Inner(required=False)
    inners = Inner(many=True, required=False)
    codes = serializers.ListField(child=serializers.CharField(max_length=3), required=False)
    new_password = serializers.CharField(max_length=3, required=False)
    keywords = serializers.CharField(max_length=3, required=False)


def said(data: Any, serializer: type[serializers.Serializer[object]] = Sent) -> dict[str, str]:
    with pytest.raises(ValidationError) as refused:
        checked(serializer, data)
    found = problem_of(refused.value)
    assert found is not None
    return dict(found.errors)


@pytest.mark.parametrize(
    ("sent", "place", "words"),
    [
        ({"whole": "many"}, "whole", "Expected a whole number, from 1 to 60, found 'many'."),
        ({"whole": 61}, "whole", "Expected a whole number, from 1 to 60, found 61."),
        ({"whole": None}, "whole", "Expected a whole number, from 1 to 60, found null."),
        ({"whole": {"a": 1}}, "whole", "Expected a whole number, from 1 to 60, found an object."),
        ({"whole": "9" * 2000}, "whole", f"Expected a whole number, from 1 to 60, found '{'9' * 59}…."),
        ({"share": 0.25}, "share", "Expected a number, at least 0.5, found 0.25."),
        ({"title": "too long"}, "title", "Expected a text, at most 5 characters, found 'too long'."),
        ({"title": " "}, "title", "Expected a text, at most 5 characters, found nothing."),
        ({"title": ["a"]}, "title", "Expected a text, at most 5 characters, found a list of 1."),
        ({"title": "a\x1b[2J\u202e" + "b" * 99}, "title", f"Expected a text, at most 5 characters, found 'a\\x1b[2J\\u202e{'b' * 45}…."),
        ({"title": "a\0"}, "title", "Expected a text, at most 5 characters, found 'a\\x00'."),
        ({"sure": "perhaps"}, "sure", "Expected true or false, found 'perhaps'."),
        ({"kind": "tables"}, "kind", "Expected one of table, texts, found 'tables'."),
        ({"day": "tomorrow"}, "day", "Expected a day such as 2027-06-30, found 'tomorrow'."),
        ({"at": "noon"}, "at", "Expected a moment such as 2027-06-30T12:00:00Z, found 'noon'."),
        ({"address": "here"}, "address", "Expected an address such as https://example.org/, found 'here'."),
        ({"one": []}, "one", "Expected a list, from 1 entry to 2 entries, found a list of 0."),
        ({"one": ["ab"]}, "one.0", "Expected a text, at most 1 character, found 'ab'."),
        ({"names": "a"}, "names", "Expected a list, at most 2 entries, found 'a'."),
        ({"names": []}, "names", "Expected a list, at most 2 entries, found a list of 0."),
        ({"names": ["a"] * 3}, "names", "Expected a list, at most 2 entries, found a list of 3."),
        ({"names": ["a", "long"]}, "names.1", "Expected a text, at most 3 characters, found 'long'."),
        ({"by_name": [1]}, "by_name", "Expected an object, found a list of 1."),
        ({"by_name": {"a": "b"}}, "by_name.a", "Expected a whole number, found 'b'."),
        ({"file": "x"}, "file", "Expected a file, found 'x'."),
        ({"file": SimpleUploadedFile("a.csv", b"")}, "file", "Expected a file, found 'a.csv'."),
        ({"inner": {}}, "inner.day", "Expected a day such as 2027-06-30, found nothing."),
        ({"inner": 3}, "inner", "Expected an object, found 3."),
        ({"inners": [{"day": "2027-06-30"}, {"day": 7}]}, "inners.1.day", "Expected a day such as 2027-06-30, found 7."),
        ({"inners": {}}, "inners", "Expected a list, found an object."),
        ([], "", "Expected an object, found a list of 0."),
        (None, "", "Expected an object, found null."),
    ],
    ids=repr,
)
def test_a_complaint_says_what_was_expected_and_what_came(sent: Any, place: str, words: str) -> None:
    assert said(sent) == {place: words}


def test_complaints_of_our_own_stay_as_they_are() -> None:
    assert said({"even": 3, "slug": "Ä"}) == {"even": OURS, "slug": "Ours: small letters."}
    assert said({"even": 5}) == {"even": OURS}, "also with a code of its own"


@pytest.mark.parametrize("sent", [{"codes": ["very-secret"]}, {"codes": "very-secret"}, {"new_password": "very-secret"}], ids=repr)
def test_a_secret_is_never_repeated(sent: Any) -> None:
    (words,) = said(sent).values()
    assert "very-secret" not in words
    assert "found something that is not repeated here." in words


def test_words_that_only_begin_as_a_secret_are_repeated() -> None:
    assert "found 'plain'" in said({"keywords": "plain"})["keywords"]


def test_no_complaint_is_long() -> None:
    long = "ä" * 100_000
    for name in Sent().fields:
        for sent in (long, [long] * 3, {long: long}, {"a": [long]}):
            assert all(len(place) < 100 and len(words) < 500 for place, words in said_or_nothing({name: sent}).items())


def said_or_nothing(data: Any) -> dict[str, str]:
    return said(data) if not Sent(data=data).is_valid() else {}


def test_a_query_is_told_as_a_document_is() -> None:
    assert said(QueryDict("whole=x&names=a&names=long")) == {
        "whole": "Expected a whole number, from 1 to 60, found 'x'.",
        "names.1": "Expected a text, at most 3 characters, found 'long'.",
    }


def test_germans_read_german() -> None:
    with translation.override("de"):
        assert said({"whole": 0}) == {"whole": "Erwartet wurde eine ganze Zahl, von 1 bis 60, gefunden wurde 0."}
        assert (
            said({"names": ["a"] * 3})["names"]
            == "Erwartet wurde eine Liste, höchstens 2 Einträge, gefunden wurde eine Liste mit 3 Einträgen."
        )
