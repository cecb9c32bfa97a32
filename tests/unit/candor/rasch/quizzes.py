"""Quizzes for the tests: published ones, and simulated ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "data"
PROGRAMS = json.loads((DATA / "conditional_likelihood.json").read_text())["results"]


def lsat6() -> np.ndarray:
    """The answers of 1,000 people to five items, from the published frequencies of their 32 patterns (Bock and Lieberman 1970)."""
    patterns = np.array([[int(answer) for answer in f"{pattern:05b}"] for pattern in range(32)], dtype=float)
    return np.repeat(patterns, json.loads((DATA / "lsat6.json").read_text())["frequencies"], axis=0)


def with_omissions(answers: np.ndarray) -> np.ndarray:
    """The same with every answer left out for which 7·person + 3·item is a multiple of 11."""
    person, item = np.indices(answers.shape) + 1
    return np.where((7 * person + 3 * item) % 11 == 0, np.nan, answers)


def simulated(rng: np.random.Generator, *, abilities: np.ndarray, difficulties: np.ndarray) -> np.ndarray:
    """Answers under the Rasch model, shape (n, m)."""
    return (rng.random((len(abilities), len(difficulties))) < 1 / (1 + np.exp(difficulties - abilities[:, None]))).astype(float)
