"""A short version of ``benchmarks/papers.py``: every figure can be drawn, and the ones that are kept are the ones that its page shows."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from lxml import etree

from benchmarks import papers, question_figures, spectral_figures, workflow_figures
from benchmarks.panels import Panel
from benchmarks.workflow_figures import Released, simulated
from candor.rasch.feedback import ability, chances_right

FOLDER = Path(papers.__file__).parent


@pytest.fixture(scope="module")
def panels() -> list[Panel]:
    """All figures of small runs; the exam is a simulated one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workflow_figures, "CLASSES", (40,))
        patch.setattr(workflow_figures, "EPSILONS", (5.0, 6.0, 7.0))
        patch.setattr(spectral_figures, "EPSILONS", (1.0, 3.0))
        patch.setattr(spectral_figures, "CLASSES", ((200, 5),))
        patch.setattr(spectral_figures, "RATINGS", ((100, 5),))
        patch.setattr(question_figures, "EPSILONS", (0.1, 0.2))
        exam = simulated(62, np.random.default_rng(1))[0].right.astype(float)
        return papers.all_panels(exam, 2, 1)


def test_every_figure_is_drawn_with_its_legend(panels: list[Panel]) -> None:
    for panel in panels:
        words = etree.fromstring(panel.svg().encode()).xpath("//*[local-name()='text']/text()")
        assert {label for marks in (panel.curves, panel.dots, panel.levels) for _, label in marks} <= set(words), panel.name


def test_the_published_calibrations_are_dashed(panels: list[Panel]) -> None:
    published = [kind for panel in panels for kind, label in panel.curves if "published" in label or "for each" in label]
    assert published
    assert all(kind.startswith("dashed-") for kind in published)


def test_the_page_shows_every_kept_figure() -> None:
    shown = set(re.findall(r"\(figures/([\w.-]+)\)", (FOLDER / "papers.md").read_text()))
    assert shown == {path.name for path in (FOLDER / "figures").iterdir()}
    with (FOLDER / "figures" / "papers.csv").open(newline="") as file:
        assert {f"{row['figure']}.svg" for row in csv.DictReader(file)} == shown - {"papers.csv"}


def test_the_page_says_when_the_exam_is_missing(panels: list[Panel]) -> None:
    without = [panel for panel in panels if not panel.name.startswith(("000-5", "000-6"))]
    written = papers.page(without, trials=2, seed=1, command="…")
    assert written.count("Not drawn: the file of the exam was not given.") == 2
    assert "Not drawn" not in papers.page(panels, trials=2, seed=1, command="…")


def test_people_estimate_their_ability_as_on_the_feedback_page() -> None:
    answers, _ = simulated(30, np.random.default_rng(2))
    difficulties, deviations = np.linspace(-2, 2, answers.m), np.linspace(0.1, 0.5, answers.m)
    found = Released(difficulties=difficulties, deviations=deviations, mean=0.3, sd=1.2).chances(answers.right.astype(float))
    for person in range(answers.n):
        right = answers.right[person].tolist()
        own = ability(right, difficulties=difficulties, deviations=deviations, class_mean=0.3, class_sd=1.2)
        assert found[person] == pytest.approx(chances_right(own.value, difficulties, deviations), abs=1e-12)
