"""Pictures of estimates: the text beside an interval says where it ends, if it does."""

import re
from collections.abc import Callable

import pytest
from django.utils.translation import override

from analysis.figures.intervals import (
    BalanceLine,
    Moment,
    balance_figure,
    bots,
    category_effects_figure,
    category_shares_figure,
    forest_figure,
    people,
    prevalence_figure,
    running_figure,
)
from candor.figures.drawing import Drawing
from candor.figures.forest import Ends, ForestRow


@pytest.mark.parametrize(
    ("ends", "words", "arrows"),
    [
        ((0.12, 0.8), "+58 (+12 to +80)", 0),
        ((None, 0.8), "+58 (up to +80)", 1),
        ((0.12, None), "+58 (from +12)", 1),
        ((None, None), "+58 (unbounded)", 2),
        (None, "+58", 0),
    ],
)
def test_an_interval_without_an_end_says_so_and_has_an_arrow_there(ends: Ends | None, words: str, arrows: int) -> None:
    for value, shown in ((0.58, words), (None, words.replace("+58", "–"))):
        row = ForestRow.of(value, ends, label="Face minus slides", detail="difference in means")
        picture = forest_figure([row], title="Effects").svg()
        assert shown in re.findall(r"<text[^>]*>([^<]*)</text>", picture)
        assert picture.count("<path") == arrows


@pytest.mark.parametrize("moments", [1, 2, 3])
def test_bands_can_be_seen_from_the_first_moment_on(moments: int) -> None:
    shown = [Moment(n=100 * n, value=0.1, ends=(None, 0.6)) for n in range(1, moments + 1)]
    picture = running_figure({"Face minus slides": shown}, planned=1000, title="Effect").svg()
    (band,) = re.findall(r'<path d="M([^"]*)Z"', picture)
    across = {float(x) for x in re.findall(r"(-?[\d.]+) ", band)}
    assert max(across) - min(across) >= 10


@pytest.mark.parametrize("draw", [forest_figure, prevalence_figure, category_effects_figure, category_shares_figure])
@pytest.mark.parametrize("narrow", [False, True])
def test_a_figure_of_simulated_answers_speaks_of_bots_alone(draw: Callable[..., Drawing], narrow: bool) -> None:
    row = ForestRow.of(0.1, (0.0, 0.2), label="attention", n=12)
    simulated, answered = (draw([row], title="attention", of=of, narrow=narrow).svg() for of in (bots, people))
    assert "people" not in simulated
    assert "12 bots" in simulated
    assert "bots" not in answered
    with override("de"):
        translated = draw([row], title="attention", of=bots, narrow=narrow).svg()
    assert "Menschen" not in translated
    assert "honest" not in translated


def test_the_axis_of_balance_is_written_as_its_language_writes_numbers() -> None:
    lines = [BalanceLine(label=name, value=value, notable=False) for name, value in (("year", -0.31), ("grade", 0.25))]
    with override("de"):
        german = re.findall(r"<text[^>]*>([^<]*)</text>", balance_figure(lines, notable=0.1).svg())
    english = re.findall(r"<text[^>]*>([^<]*)</text>", balance_figure(lines, notable=0.1).svg())
    assert {"−0,2", "0", "+0,2"} < set(german)
    assert {"−0.2", "0", "+0.2"} < set(english)
