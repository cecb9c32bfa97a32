"""The secrets of a participant: values that follow from the token, forgeries, and links between values."""

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from surveys.tokens import (
    completion_code,
    completion_code_is_genuine,
    hash_of_entry_code,
    hash_of_token,
    hash_of_withdrawal_code,
    looks_like_completion_code,
    mark_of,
    new_token,
    panel_hash,
    withdrawal_code,
)

READABLE = re.compile(r"(DONE|SECRET)(-[A-Z2-7]{4}){4}")


def test_tokens_are_long_safe_in_addresses_and_never_the_same() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43}", token) for token in tokens)


def test_the_database_keeps_a_hash_of_the_token() -> None:
    assert hash_of_token("abc") == hashlib.sha256(b"candor token: abc").hexdigest()


def test_secrets_derived_from_one_token_do_not_follow_from_each_other() -> None:
    token = new_token()
    secrets = [
        hash_of_token(token),
        mark_of(token),
        panel_hash(withdrawal_code(token)),
        withdrawal_code(token),
        completion_code(token, "a"),
    ]
    assert len({secret.removeprefix("SECRET-").removeprefix("DONE-")[:8] for secret in secrets}) == len(secrets)
    assert all(token not in secret for secret in secrets)


@given(some.text(max_size=50))
def test_codes_can_be_read_aloud(token: str) -> None:
    assert READABLE.fullmatch(withdrawal_code(token))
    assert READABLE.fullmatch(completion_code(token, "a-study"))


def in_arabic_digits(code: str) -> str:
    return code.translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"))


@pytest.mark.parametrize(
    "typed", [str.lower, lambda code: code.replace("-", ""), lambda code: f"  {code.replace('-', ' - ')}\t", in_arabic_digits]
)
def test_codes_can_be_typed_in_many_ways(typed: object) -> None:
    token = new_token()
    withdrawal, completion = withdrawal_code(token), completion_code(token, "a")
    assert hash_of_withdrawal_code(typed(withdrawal)) == hash_of_withdrawal_code(withdrawal)
    assert completion_code_is_genuine(typed(completion), "a")


def test_the_two_codes_cannot_be_taken_for_each_other_and_codes_without_a_word_stay_good() -> None:
    token = new_token()
    withdrawal, completion = withdrawal_code(token), completion_code(token, "a")
    assert (withdrawal[:7], completion[:5]) == ("SECRET-", "DONE-")
    assert not completion_code_is_genuine(withdrawal, "a")
    assert looks_like_completion_code(completion.lower())
    assert not looks_like_completion_code(withdrawal)
    assert completion_code_is_genuine(completion[5:], "a")
    assert hash_of_withdrawal_code(withdrawal[7:]) == hash_of_withdrawal_code(withdrawal)
    assert panel_hash(withdrawal[7:]) == panel_hash(withdrawal)


def test_a_completion_code_is_genuine_in_its_own_study_only() -> None:
    code = completion_code(new_token(), "one-study")
    assert completion_code_is_genuine(code, "one-study")
    assert not completion_code_is_genuine(code, "another-study")


def test_a_changed_completion_code_is_not_genuine() -> None:
    code = completion_code(new_token(), "a").replace("-", "").removeprefix("DONE")
    for place, letter in enumerate(code):
        changed = code[:place] + ("A" if letter != "A" else "B") + code[place + 1 :]
        assert not completion_code_is_genuine(changed, "a")


@pytest.mark.parametrize("nonsense", ["", "-", "AAAA", "AAAA-AAAA-AAAA-AAAA", "1111-1111-1111-1111", "ä" * 16, "A" * 1000, "\0"])
def test_nonsense_is_not_genuine(nonsense: str) -> None:
    assert not completion_code_is_genuine(nonsense, "a")


def test_completion_codes_are_signed_with_the_secret_of_the_installation(settings: object) -> None:
    code = completion_code("token", "a")
    settings.SECRET_KEY = "another installation"
    assert not completion_code_is_genuine(code, "a")


def test_hashes_of_entry_codes_differ_by_study_and_by_installation(settings: object) -> None:
    one = hash_of_entry_code("abcd-1", "a")
    assert one == hash_of_entry_code(" ABCD1 ", "a")
    assert one != hash_of_entry_code("abcd-1", "b")
    settings.SECRET_KEY = "another installation"
    assert one != hash_of_entry_code("abcd-1", "a")
