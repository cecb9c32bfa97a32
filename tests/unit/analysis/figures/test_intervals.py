"""Pictures of estimates: the text beside an interval says where it ends, if it does."""

import re

import pytest

from analysis.figures.intervals import Moment, forest_figure, running_figure
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
    row = ForestRow.of(0.58, ends, label="Face minus slides", detail="difference in means")
    picture = forest_figure([row], title="Effects").svg()
    assert words in re.findall(r"<text[^>]*>([^<]*)</text>", picture)
    assert picture.count("<path") == arrows


@pytest.mark.parametrize("moments", [1, 2, 3])
def test_bands_can_be_seen_from_the_first_moment_on(moments: int) -> None:
    shown = [Moment(n=100 * n, value=0.1, ends=(None, 0.6)) for n in range(1, moments + 1)]
    picture = running_figure({"Face minus slides": shown}, planned=1000, title="Effect").svg()
    (band,) = re.findall(r'<path d="M([^"]*)Z"', picture)
    across = {float(x) for x in re.findall(r"(-?[\d.]+) ", band)}
    assert max(across) - min(across) >= 10
