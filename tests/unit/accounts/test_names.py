"""Names of accounts that look alike, mix alphabets, or promise an office."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.names import LONGEST_SKELETON, is_reserved, mixes_alphabets, reason_against, skeleton


@pytest.mark.parametrize(
    "look_alike",
    ["ADA", "Ada", "ａｄａ", "аdа", "АdА", "áda", "𝐚𝐝𝐚"],
    ids=lambda name: name.encode("unicode_escape").decode(),
)
def test_names_that_look_like_ada(look_alike: str) -> None:
    assert skeleton(look_alike) == skeleton("ada")


@pytest.mark.parametrize(
    ("one", "other"), [("lris", "Iris"), ("b0b", "bob"), ("al1ce", "alice"), ("rnartin", "martin"), ("сосо", "coco"), ("ΚΑΤΕ", "Kate")]
)
def test_pairs_that_look_alike(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)


@pytest.mark.parametrize(("one", "other"), [("ada", "eda"), ("bob", "rob"), ("anna", "hanna"), ("a.b", "ab"), ("иван", "ivan")])
def test_pairs_that_do_not(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


@pytest.mark.parametrize("name", ["аdmin", "Αda", "ada٣", "adaя", "ad\u0251", "\u1d00da", "ada\u200d"])
def test_names_of_several_alphabets_are_seen(name: str) -> None:
    assert mixes_alphabets(name)


@pytest.mark.parametrize(
    "name", ["ada", "müller.k", "Łukasz", "ştefan", "Иван-2", "Ελένη", "田中ゆき", "김철수", "nguyễn", "עדה", "ada@example.edu"]
)
def test_names_of_one_alphabet_are_fine(name: str) -> None:
    assert not mixes_alphabets(name)
    assert reason_against(name, may_be_reserved=False) is None


@pytest.mark.parametrize("name", ["admin", "Admin", "ADMIN", "adm1n", "ädmin", "ad.min", "irb", "IRB_officer", "r00t", "Candor", "supp0rt"])
def test_offices_are_reserved(name: str) -> None:
    assert is_reserved(name)
    assert reason_against(name, may_be_reserved=False)
    assert reason_against(name, may_be_reserved=True) is None


@pytest.mark.parametrize("name", ["adminski", "irbin", "helper", "ada"])
def test_names_that_only_begin_like_an_office_are_not(name: str) -> None:
    assert not is_reserved(name)


@given(st.text(max_size=150))
def test_the_skeleton_of_any_text_is_short_and_knows_no_case(name: str) -> None:
    assert len(skeleton(name)) <= LONGEST_SKELETON
    assert skeleton(name.upper().lower()) == skeleton(name.lower().upper().lower())
