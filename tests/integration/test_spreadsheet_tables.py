"""A table as a German spreadsheet program saves it: semicolons between columns, decimal commas, a mark at the beginning."""

import numpy as np
import pytest

from accounts.models import Role
from analysis.models import DataSet
from analysis.sources.selectors import table_of
from tests.data_sets import TYPED_TABLE, bring, quiz_file
from tests.factories import logged_in, page_of, person

pytestmark = pytest.mark.django_db
TYPED = TYPED_TABLE | {
    "header": "Nummer;Note;Fach;Punkte",
    "others": "",
    "role-0": "student",
    "role-1": "category",
    "declared-1": "1,0; 1,3",
    "role-2": "category",
    "declared-2": "Ökologie;Straßenbau",
    "role-3": "number",
    "declared-3": "0; 20",
}
ROWS = [f"m{row};{('1,0', '1,3')[row % 2]};{('Ökologie', 'Straßenbau')[row % 2]};{row // 2},5" for row in range(20)]
FILE = "\ufeff" + "\r\n".join(["Nummer;Note;Fach;Punkte", *ROWS]) + "\r\n"


def test_grades_with_a_comma_are_values_and_points_with_a_comma_are_numbers() -> None:
    browser = logged_in(person(Role.INVESTIGATOR))
    brought = bring(browser, TYPED, FILE)
    assert brought.status_code == 302
    assert "1,0 · 1,3" in page_of(browser.get(brought.url)).text_content()
    table = table_of(DataSet.objects.get().source, 1)
    assert table is not None
    assert table.schema.column("background.Note").names == ("1,0", "1,3")
    assert np.bincount(table["background.Note"]).tolist() == np.bincount(table["background.Fach"]).tolist() == [10, 10]
    assert sorted(table["background.Punkte"]) == [row // 2 + 0.5 for row in range(20)]


def test_a_student_with_two_rows_is_refused_with_both_ways_to_go_on() -> None:
    refused = bring(logged_in(person(Role.INVESTIGATOR)), TYPED, FILE + "m0;1,0;Ökologie;1\r\n")
    assert refused.status_code == 422
    assert "keep one row, or give a column a role “in each row of a student”" in page_of(refused).text_content()


def test_a_thousand_students_are_counted_as_elsewhere_on_the_page() -> None:
    browser = logged_in(person(Role.INVESTIGATOR))
    brought = bring(browser, TYPED_TABLE, quiz_file(1000))
    assert "1,000 students. This number is public." in page_of(browser.get(brought.url)).text_content()
