"""The address of the place for files: every part of it, every mistake, and no secret in any sentence."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surveys.media.stores.addresses import FOLDERS, OBJECTS, Bucket, Folder, Keys, backend, keys_of, place_at
from surveys.media.stores.errors import AddressError


def bucket(address: str) -> Bucket:
    place = place_at(address)
    assert isinstance(place, Bucket)
    return place


def test_a_folder() -> None:
    assert place_at("file:///srv/media") == Folder(path=Path("/srv/media"))
    assert place_at(" file://localhost/srv/my%20media/ ") == Folder(path=Path("/srv/my media"))
    assert str(place_at("file:///srv/my%20media")) == "file:///srv/my%20media"


def test_a_bucket_of_amazon_is_found_by_its_region() -> None:
    place = bucket("s3://trial-media/candor?region=eu-central-1")
    assert place == Bucket(bucket="trial-media", prefix="candor", region="eu-central-1", addressing="virtual")
    assert place.origin == "https://trial-media.s3.eu-central-1.amazonaws.com"
    assert not place.direct
    assert place.copies == 20


def test_a_store_of_another_maker_has_an_endpoint() -> None:
    place = bucket("s3://media?endpoint=https://s3.uni.example:9000/&copies=5")
    assert (place.endpoint, place.region, place.addressing, place.copies) == ("https://s3.uni.example:9000", "us-east-1", "path", 5)
    assert place.origin == "https://s3.uni.example:9000"
    assert str(place) == "s3://media at https://s3.uni.example:9000"
    virtual = bucket("s3://media/a/b?endpoint=https://s3.uni.example&addressing=virtual&links=direct")
    assert (virtual.origin, virtual.direct) == ("https://media.s3.uni.example", True)


def test_a_bucket_with_dots_is_addressed_by_its_path() -> None:
    """No certificate of the store holds for a host with further dots."""
    assert bucket("s3://media.uni.example?region=eu-west-1").origin == "https://s3.eu-west-1.amazonaws.com"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("/srv/media", "begins with file:/// or s3://, got no scheme"),
        ("ftp://host/media", "begins with file:/// or s3://, got 'ftp://'"),
        ("https://bucket.s3.amazonaws.com", "got 'https://'"),
        ("file://srv/media", "expected file:/// and three strokes, got a computer named 'srv'"),
        ("file:media", "the whole path of a folder"),
        ("file:///", "the whole path of a folder"),
        ("file:///srv/../etc", "the whole path of a folder"),
        ("file:///srv?region=x", "expected no ? in the address of a folder"),
        ("s3://", "expected the name of a bucket"),
        ("s3:bucket", "expected the name of a bucket"),
        ("s3://A_bucket?region=eu-west-1", "expected the name of a bucket"),
        ("s3://media:9000?region=eu-west-1", "expected the name of a bucket"),
        ("s3://media:port?region=eu-west-1", "this one cannot be read"),
        ("s3://[media?region=eu-west-1", "this one cannot be read"),
        ("s3://media/../others?region=eu-west-1", "between the strokes"),
        ("s3://media/a//b?region=eu-west-1", "between the strokes"),
        ("s3://media", r"expected \?endpoint="),
        ("s3://media?region=", "region: expected"),
        ("s3://media?region=EU", "region: expected"),
        ("s3://media?region=eu-west-1&region=eu-west-2", "expected region once"),
        ("s3://media?regoin=eu-west-1", "expected only addressing, copies, endpoint, links, region after the ?, got 'regoin'"),
        ("s3://media?region=eu-west-1#x", "expected no #"),
        ("s3://media?endpoint=s3.example.org", "endpoint: expected http:// or https://"),
        ("s3://media?endpoint=https://s3.example.org/media", "endpoint: expected nothing after the host"),
        ("s3://media?endpoint=https://host:x", "endpoint: expected an address"),
        ("s3://media?region=eu-west-1&links=signed", "links: expected direct or own, got 'signed'"),
        ("s3://media?region=eu-west-1&addressing=dns", "addressing: expected path or virtual"),
        ("s3://media?region=eu-west-1&copies=0", "copies: expected a whole number"),
        ("s3://media?region=eu-west-1&copies=1.5", "copies: expected a whole number"),
        ("s3://media?endpoint=http://minio:9000&links=direct", "links=direct: expected an endpoint with https://"),
    ],
)
def test_every_mistake_is_named(address: str, said: str) -> None:
    with pytest.raises(AddressError, match=said.replace("after the ?,", r"after the \?,").replace("no ? in", r"no \? in")):
        place_at(address)


SECRET = "AKIAsecretPART"


@pytest.mark.parametrize(
    "address",
    [
        f"s3://key:{SECRET}@media?region=eu-west-1",
        f"s3://key:a/{SECRET}@media?region=eu-west-1",
        f"s3://{SECRET}:x@y?",
        f"s3://media:{SECRET}?region=eu-west-1",
        f"s3://media?endpoint=https://key:{SECRET}@s3.example.org",
        f"s3://media?endpoint=https://host:{SECRET}",
        f"file://key:{SECRET}@/srv",
    ],
)
def test_no_sentence_repeats_a_key(address: str) -> None:
    with pytest.raises(AddressError) as refused:
        place_at(address)
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


@given(st.text(max_size=60), st.sampled_from(["", "s3://", "file:///", "s3://media?", "s3://media/x?endpoint="]))
def test_any_text_is_a_place_or_a_complaint(text: str, begin: str) -> None:
    with suppress(AddressError):
        place = place_at(begin + text)
        assert place_at(str(place).partition(" at ")[0] + ("?region=eu-west-1" if isinstance(place, Bucket) else ""))


def test_keys_come_in_twos() -> None:
    assert keys_of("", "") == Keys()
    keys = keys_of("k", SECRET)
    assert (keys.key, keys.secret) == ("k", SECRET)
    assert SECRET not in repr(keys)
    for only in ((SECRET, ""), (" ", SECRET)):
        with pytest.raises(AddressError, match="both") as refused:
            keys_of(*only)
        assert SECRET not in str(refused.value)


def test_the_storage_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    assert backend(place_at("file:///srv/media"), Keys()) == {"BACKEND": FOLDERS, "OPTIONS": {"location": "/srv/media"}}
    place = bucket("s3://media?region=eu-west-1")
    assert backend(place, Keys(key="k", secret="s"))["BACKEND"] == OBJECTS
    monkeypatch.setattr("surveys.media.stores.addresses.find_spec", lambda name: None)
    with pytest.raises(AddressError, match=r"requirements/complete\.txt"):
        backend(place, Keys())
