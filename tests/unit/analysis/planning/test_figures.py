"""The points of a plan's figures say, in full, the numbers of their tables and of the plan for programs."""

from math import sqrt
from typing import Any

import pytest
from django.http import QueryDict
from lxml import etree

from analysis.planning.figures import figures_of
from analysis.planning.forms import read_plan
from analysis.planning.front import front_of
from analysis.planning.plans import Planned, make_plan
from analysis.planning.starts import NEW_STUDY
from analysis.planning.wording import hardest, percent, points, whole
from candor.studies.plans import PlannedStudy

COLUMNS = {
    "power-students": {"ordinary trial": "Ordinary trial", "this study": "Power"},
    "error-students": {"ordinary trial": "Ordinary trial", "this study": "Standard error, points"},
}


@pytest.fixture(scope="module")
def planned() -> Planned:
    return make_plan(read_plan(QueryDict("cheaters=15&n=400"), NEW_STUDY))


def marks(svg: str) -> list[etree._Element]:
    return [one for one in etree.fromstring(svg.encode()).iter() if one.get("data-mark")]


@pytest.mark.parametrize("name", COLUMNS)
def test_where_somebody_stops_the_table_has_the_same_number(planned: Planned, name: str) -> None:
    figure = next(one for one in figures_of(planned) if one.name == name)
    written, read = points if name.startswith("error") else percent, 0
    for curve, column in COLUMNS[name].items():
        of_curve = [mark for mark in marks(figure.svg) if mark.get("data-mark", "").startswith(curve)]
        cells = {row[0]: row[figure.header.index(column)] for row in figure.rows}
        for mark in of_curve:
            assert written(float(mark.get("data-value", ""))) == cells[whole(float(mark.get("data-x", "")))]
            read += 1
    assert read >= 8


def for_programs(planned: Planned) -> dict[str, Any]:
    return PlannedStudy(design=planned.design, expected=planned.plan, front=planned.front).to_dict()


def test_the_point_of_the_plan_is_that_of_the_plan_for_programs(planned: Planned) -> None:
    (own,) = [mark for mark in marks(figures_of(planned)[0].svg) if "With 400 students" in mark.get("data-mark", "")]
    assert float(own.get("data-x", "")) == for_programs(planned)["n"]
    assert float(own.get("data-value", "")) == pytest.approx(hardest(planned.plan).power)


def test_each_design_of_the_front_stands_where_the_plan_for_programs_puts_it(planned: Planned) -> None:
    told, front = for_programs(planned), front_of(planned)
    for figure, error in zip(front.figures, ("unit_effect_error", "unit_honest_proportion_error"), strict=True):
        drawn = {
            (float(mark.get("data-x", "")), float(mark.get("data-value", ""))) for mark in marks(figure.svg) if mark.tag.endswith("}a")
        }
        assert drawn == {(float(one["participants_needed"]), one[error] / sqrt(told["n"])) for one in told["front"]}
        assert len(drawn) == len(front.rows) > 3
