"""Drawing concealed lists: exact shares, blocks that hold, fair draws, and a hash that anybody can recompute."""

import hashlib
import json
import random
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import stats

from surveys.allocation.assignment import Assignment, Expanded, commitment, draw_list, draw_sequence, list_document
from surveys.definition import DIRECT

weights = some.dictionaries(some.sampled_from("abcde"), some.integers(1, 6), min_size=1, max_size=5)
# A fair draw is refused once in 10^9 runs.
UNLIKELY = 1e-9


@given(weights, some.integers(0, 200), some.sampled_from(["simple", "complete", "permuted_block"]))
def test_a_sequence_has_the_length_asked_for_and_known_labels_only(weights: dict[str, int], length: int, scheme: str) -> None:
    sequence = draw_sequence(weights, length, scheme=scheme, block_multiples=(1, 2))
    assert len(sequence) == length
    assert set(sequence) <= set(weights)


@given(weights, some.integers(1, 200))
def test_complete_shares_miss_their_weights_by_the_last_round_at_most(weights: dict[str, int], length: int) -> None:
    counts = Counter(draw_sequence(weights, length, scheme="complete"))
    rounds, rest = divmod(length, sum(weights.values()))
    for label, weight in weights.items():
        assert rounds * weight <= counts[label] <= rounds * weight + min(weight, rest)


@given(weights, some.integers(1, 8))
def test_complete_shares_are_exact_when_they_can_be(weights: dict[str, int], rounds: int) -> None:
    counts = Counter(draw_sequence(weights, rounds * sum(weights.values()), scheme="complete"))
    assert counts == {label: rounds * weight for label, weight in weights.items()}


@given(weights, some.integers(1, 4), some.integers(1, 200))
def test_every_whole_block_has_exact_shares(weights: dict[str, int], multiple: int, length: int) -> None:
    sequence = draw_sequence(weights, length, scheme="permuted_block", block_multiples=(multiple,))
    size = multiple * sum(weights.values())
    for start in range(0, length - size + 1, size):
        assert Counter(sequence[start : start + size]) == {label: multiple * weight for label, weight in weights.items()}


def test_blocks_of_random_size_fit_together_from_the_sizes_allowed() -> None:
    weights = {"a": 1, "b": 1}
    sequence = draw_sequence(weights, 600, scheme="permuted_block", block_multiples=(1, 3))
    # Walk all ways to cut the sequence into balanced blocks of 2 and 6; the true one is among them.
    reached = {0}
    for end in range(1, 601):
        for size in (2, 6):
            block = sequence[max(end - size, 0) : end]
            if end - size in reached and block.count("a") == size // 2:
                reached.add(end)
    assert max(reached) >= 600 - 6


def test_sizes_of_blocks_are_drawn_at_random() -> None:
    # With blocks of 2 only, no three in a row are ever alike; blocks of 6 allow it.
    sequences = [draw_sequence({"a": 1, "b": 1}, 300, scheme="permuted_block", block_multiples=sizes) for sizes in ((1,), (1, 3))]
    runs = [any(one == two == three for (one, two), (_, three) in zip(pairwise(s), pairwise(s[1:]), strict=False)) for s in sequences]
    assert runs == [False, True]


def test_nobody_knows_who_is_one_short_in_the_last_round() -> None:
    # Five places for two labels: each label must get the odd one about half of the time.
    odd = sum(draw_sequence({"a": 1, "b": 1}, 5, scheme="complete").count("a") == 3 for _ in range(2000))
    assert stats.binomtest(odd, 2000).pvalue > UNLIKELY


@pytest.mark.parametrize("scheme", ["simple", "complete", "permuted_block"])
def test_every_place_is_drawn_fairly(scheme: str) -> None:
    weights = {"a": 1, "b": 2, "c": 3}
    sequences = [draw_sequence(weights, 9, scheme=scheme, block_multiples=(1, 2)) for _ in range(3000)]
    for place in range(9):
        counts = Counter(sequence[place] for sequence in sequences)
        assert stats.chisquare([counts[label] for label in weights], [500, 1000, 1500]).pvalue > UNLIKELY


def test_simple_draws_do_not_know_each_other() -> None:
    sequence = draw_sequence({"a": 1, "b": 1}, 8001, scheme="simple")
    pairs = Counter(pairwise(sequence))
    assert stats.chisquare([pairs[one, two] for one in "ab" for two in "ab"]).pvalue > UNLIKELY
    assert stats.binomtest(sequence.count("a"), 8001).pvalue > UNLIKELY


def test_arms_are_balanced_within_each_subsample() -> None:
    drawn = draw_list(length=120, subsamples={"1": 1, "2": 2}, arms={"x": 1, "y": 1}, scheme="complete", block_multiples=(1,))
    counts = Counter((one.subsample, one.arm) for one in drawn)
    assert counts == {("1", "x"): 20, ("1", "y"): 20, ("2", "x"): 40, ("2", "y"): 40}


def test_each_subsample_has_blocks_of_its_own() -> None:
    drawn = draw_list(length=400, subsamples={"1": 1, "2": 1}, arms={"x": 1, "y": 1}, scheme="permuted_block", block_multiples=(1,))
    for subsample in "12":
        arms = [one.arm for one in drawn if one.subsample == subsample]
        assert all({one, two} == {"x", "y"} for one, two in zip(arms[::2], arms[1::2], strict=False))


def test_two_lists_differ() -> None:
    lists = [
        draw_list(length=100, subsamples={"1": 1, "2": 1}, arms={"x": 1, "y": 1}, scheme="simple", block_multiples=(1,)) for _ in range(2)
    ]
    assert lists[0] != lists[1]


def test_the_hash_is_that_of_the_whole_document() -> None:
    assignments = [Assignment(subsample="1", arm="x"), Assignment(subsample="2", arm="ü")]
    document = list_document(assignments, study="a-study", number=3, nonce="ab" * 32)
    assert json.loads(document) == {
        "study": "a-study",
        "list": 3,
        "nonce": "ab" * 32,
        "assignments": [{"subsample": "1", "arm": "x"}, {"subsample": "2", "arm": "ü"}],
    }
    assert document.isascii()
    assert commitment(document) == hashlib.sha256(document.encode("ascii")).hexdigest()


@pytest.mark.parametrize("change", [{"study": "b"}, {"number": 2}, {"nonce": "1"}, {"assignments": [Assignment(subsample="1", arm="y")]}])
def test_every_change_in_the_list_changes_its_hash(change: dict[str, object]) -> None:
    facts: dict[str, object] = {"study": "a", "number": 1, "nonce": "0", "assignments": [Assignment(subsample="1", arm="x")]}

    def hashed(facts: dict[str, object]) -> str:
        assignments = facts.pop("assignments")
        return commitment(list_document(assignments, **facts))

    assert hashed(facts | change) != hashed(dict(facts))


def drawn(share: str, *, length: int = 400, scheme: Any = "permuted_block") -> list[Assignment]:
    return draw_list(
        length=length,
        subsamples={"1": 1, "2": 1},
        arms={"a": 1, "b": 1},
        scheme=scheme,
        block_multiples=(1, 2),
        direct_share=Fraction(share),
    )


def test_a_list_holds_the_share_but_for_its_last_block_and_the_arms_alike_in_every_group() -> None:
    lines = drawn("1/5")
    counts = Counter((line.subsample, line.arm) for line in lines)
    groups = Counter(line.subsample for line in lines)
    assert groups == {DIRECT: pytest.approx(80, abs=1), "1": pytest.approx(160, abs=3), "2": pytest.approx(160, abs=3)}
    for group in groups:
        assert abs(counts[group, "a"] - counts[group, "b"]) <= 4  # at most one block is cut off


def test_without_a_share_nobody_is_drawn() -> None:
    assert DIRECT not in {line.subsample for line in drawn("0")}


@pytest.mark.parametrize("scheme", ["simple", "complete", "permuted_block"])
def test_every_scheme_draws_people_in_no_order_that_could_be_foreseen(scheme: str) -> None:
    lists = [[line.subsample == DIRECT for line in drawn("1/4", length=40, scheme=scheme)] for _ in range(400)]
    # Any one line is direct in a quarter of all lists: 100 ± 5 standard deviations of 8.7.
    assert all(abs(sum(one[place] for one in lists) - 100) < 44 for place in range(40))


def test_the_published_hash_covers_who_is_asked_directly() -> None:
    lines = drawn("1/2", length=10)
    text = list_document(lines, study="s", number=1, nonce="n")
    asked_directly = [one["subsample"] == DIRECT for one in json.loads(text)["assignments"]]
    assert asked_directly == [line.subsample == DIRECT for line in lines]
    assert any(asked_directly)
    other = [Assignment(subsample="1", arm=line.arm) if line.subsample == DIRECT else line for line in lines]
    assert commitment(list_document(other, study="s", number=1, nonce="n")) != commitment(text)


DRAWN_BEFORE = {
    ("simple", 50, "0"): "3f15ab17fd47139c746eef46e422f3a9828db31a27ea7dce8e2f8d8077c9242e",
    ("complete", 50, "0"): "e8b1ac9692ecee2450d2e96dc845275840e30ee2b043e6dabab67e59f22e4cea",
    ("permuted_block", 50, "0"): "efdf75e7c3437b8656d6dbd160385d4b76e8fb4816f9b150041c740be4f04683",
    ("permuted_block", 50, "1/5"): "c2073d438510e2ce1c22295f3b9e3fb28d36241e80e7a5ba09d90fa9a32f5db4",
    ("complete", 1001, "1/3"): "42da158d5752b65ce11f15b2a59636aa53d950b9e6a9bbba90e08eb9f24c1171",
    ("simple", 999, "1/7"): "505880d1f6ae55febe56007ed925e90e768f4dc49f3205f2c6f88389f4a59c7e",
}
"""Hashes of lists that the version before long lists drew from generators of these names."""


@pytest.mark.parametrize(("scheme", "length", "share"), DRAWN_BEFORE)
def test_the_same_seed_gives_the_same_list_and_document_as_ever(scheme: Any, length: int, share: str) -> None:
    lines = draw_list(
        length=length,
        subsamples={"1": 1, "2": 2},
        arms={"x": 1, "y": 2},
        scheme=scheme,
        block_multiples=(1, 2, 3),
        direct_share=Fraction(share),
        entropy=random.Random(f"{scheme} {length} {share}"),
    )
    document = list_document(lines, study="a-study", number=1, nonce="ab" * 32, stratum=None if length == 50 else "woäman")
    assert commitment(document) == DRAWN_BEFORE[scheme, length, share]
    again = json.dumps(json.loads(document), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    assert document == again


@pytest.mark.parametrize("scheme", ["simple", "complete", "permuted_block"])
def test_an_expanded_seed_draws_one_list_and_fairly(scheme: Any) -> None:
    def drawn(seed: bytes) -> list[str]:
        return draw_sequence({"a": 1, "b": 2, "c": 3}, 12_000, scheme=scheme, block_multiples=(1, 2), entropy=Expanded(seed))

    assert drawn(b"a seed") == drawn(b"a seed") != drawn(b"another")
    counts = Counter(drawn(b"a seed"))
    assert stats.chisquare([counts[label] for label in "abc"], [2000, 4000, 6000]).pvalue > UNLIKELY


def test_bits_of_an_expanded_seed_are_its_hash_read_in_order_even_across_blocks() -> None:
    expanded, expected = Expanded(b"s"), hashlib.shake_256(b"s" + bytes(8)).digest(Expanded.AT_ONCE)
    assert [expanded.getrandbits(8) for _ in range(100)] == list(expected[:100])
    assert expanded.getrandbits(12) == int.from_bytes(expected[100:102], "big") >> 4
    values = [Expanded(b"t").getrandbits(16), *[expanded.getrandbits(24) for _ in range(30_000)]]
    assert len(set(values)) > 29_900
    assert 0 <= Expanded(b"u").random() < 1
