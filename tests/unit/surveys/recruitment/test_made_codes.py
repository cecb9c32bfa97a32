"""Codes that are made here: secret, readable, harmless in a spreadsheet."""

import csv
import io
import math

import pytest

from surveys.recruitment.code_lists import read_codes
from surveys.recruitment.made_codes import DIGITS, LENGTH, LETTERS, made_codes, new_seed, qr_svg, slips, table_for_letters


def test_the_same_seed_gives_the_same_codes_and_another_one_others() -> None:
    one, two = new_seed(), new_seed()
    assert made_codes("study", seed=one, count=50) == made_codes("study", seed=one, count=50)
    assert not set(made_codes("study", seed=one, count=50)) & set(made_codes("study", seed=two, count=50))
    assert not set(made_codes("study", seed=one, count=50)) & set(made_codes("another", seed=one, count=50))


def test_codes_cannot_be_guessed_misread_or_taken_for_a_number() -> None:
    codes = made_codes("study", seed=new_seed(), count=1000)
    assert len(set(codes)) == 1000
    assert math.log2(len(LETTERS) * len(LETTERS + DIGITS) ** (LENGTH - 1)) > 45
    for code in codes:
        assert len(code) == LENGTH
        assert code[0] in LETTERS
        assert not set(code) & set("AEIOU01ILOSZBG")
    # Every sign of the alphabet comes about equally often: 9,000 places, 375 expected for each, standard deviation 19.
    rest = "".join(code[1:] for code in codes)
    assert all(275 < rest.count(sign) < 475 for sign in LETTERS + DIGITS)


def test_the_table_can_be_read_back_and_no_cell_is_a_formula() -> None:
    made = slips(made_codes("study", seed=new_seed(), count=20), address="https://example.org/s/study/")
    table = table_for_letters(made)
    for row in csv.reader(io.StringIO(table)):
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row)
    assert read_codes(table.encode()).codes == tuple(slip.code.replace("-", "") for slip in made)


def test_the_code_stands_where_no_server_sees_it() -> None:
    (slip,) = slips(["KXTF4M9PQ2"], address="https://example.org/s/study/")
    assert slip.link == "https://example.org/s/study/#code=KXTF4M9PQ2"
    assert slip.code == "KXTF4-M9PQ2"


@pytest.mark.parametrize("content", ["https://example.org/s/study/", 'https://example.org/"><script>'])
def test_a_drawing_holds_lines_alone(content: str) -> None:
    drawing = qr_svg(content)
    assert drawing.startswith("<svg")
    assert "script" not in drawing
    assert "style" not in drawing
