"""Bodies put together from compressed and stored parts are what zlib reads, and tell nothing by their length."""

import zlib

from hypothesis import given
from hypothesis import strategies as st

from surveys.shelves.deflated import compressed, joined, stored

TEXTS = st.lists(st.tuples(st.booleans(), st.text(alphabet="abc<>é\ue000🎲", max_size=400)), max_size=8)


@given(TEXTS)
def test_zlib_reads_the_texts_one_after_the_other(texts: list[tuple[bool, str]]) -> None:
    body = joined((compressed if shared else stored)(text) for shared, text in texts)
    assert zlib.decompress(body).decode() == "".join(text for _shared, text in texts)


def test_long_texts_take_several_blocks() -> None:
    long = "ö" * 50_000
    assert zlib.decompress(joined([stored(long), compressed(long), stored(long)])).decode() == long * 3


def test_what_everybody_gets_is_small() -> None:
    assert len(compressed("<p>the same words again and again</p>" * 100).blocks) < 100


def test_a_guess_beside_a_secret_changes_no_length() -> None:
    secret = "kq3v9x7z1m5c8b2n"
    page = compressed("<input name=guess value=")

    def length(guess: str) -> int:
        return len(joined([page, stored(guess), compressed("><input name=token value="), stored(secret), compressed(">")]))

    assert len({length(guess) for guess in (secret, secret[::-1], "a" * 16, secret[:8] * 2)}) == 1
