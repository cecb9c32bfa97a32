"""The promise of the spectral release, the attack on it, and the paper's calibration, which the same attack catches."""

from __future__ import annotations

from functools import partial

import numpy as np

from candor.privacy.auditing import Audit, Scores
from candor.privacy.contracts import Contract, Small
from candor.privacy.losses import Loss
from candor.privacy.noise import discrete_gaussian
from candor.privacy.sensitivity import Sensitivity, Whole
from candor.rasch.answers import BoolArray, Omitted
from candor.rasch.pairs.release import all_pairs, of_pairs, private_pairs
from candor.rasch.small_quizzes import all_rows, class_with, complete_rows, quiz

RHO = 2.0
ITEMS = 6
EVERY = all_pairs(ITEMS)
# Lemma 4.1 of the paper: variance √(m(m − 1))/ε*², as if no more could change.
LEMMA = Sensitivity(l1=5, l2_squared=5, linf=1)
ONE_HALF, OTHER_HALF = ([first] * (ITEMS // 2) + [1 - first] * (ITEMS // 2) for first in (1, 0))
PAIR = tuple(quiz(class_with(row)).solved_first_not_second() for row in (ONE_HALF, OTHER_HALF))
MOVED = (PAIR[1] - PAIR[0])[EVERY]


def circle(m: int) -> BoolArray:
    """The graph in which each item is compared with the next one."""
    graph = np.eye(m, k=1, dtype=bool) | np.eye(m, k=m - 1, dtype=bool)
    return graph | graph.T


def counts(table: Whole, graph: BoolArray, omitted: Omitted = Omitted.WRONG) -> Whole:
    """The counts of a graph."""
    return np.asarray(quiz(table, omitted).solved_first_not_second()[graph])


def _draw(world: int, runs: int) -> Scores:
    noisy = private_pairs(np.tile(PAIR[world], (runs, 1, 1)), graph=EVERY, rho=RHO)
    return np.asarray(noisy.values @ MOVED, dtype=np.float64)


def _draw_control(world: int, runs: int) -> Scores:
    noisy = discrete_gaussian(np.tile(PAIR[world][EVERY], (runs, 1)), sensitivity=LEMMA, rho=RHO)
    return np.asarray(noisy.values @ MOVED, dtype=np.float64)


CONTRACT = Contract(
    name="difficulties from pairs of items",
    small=(
        *(Small(complete_rows(m), partial(counts, graph=all_pairs(m)), of_pairs(all_pairs(m)), n=1) for m in (2, 3, 4, 5, 6, 7)),
        *(
            Small(all_rows(m), partial(counts, graph=all_pairs(m), omitted=rule), of_pairs(all_pairs(m)), 1)
            for m in (3, 4)
            for rule in Omitted
        ),
        *(Small(complete_rows(m), partial(counts, graph=circle(m)), of_pairs(circle(m)), n=1) for m in (4, 6)),
    ),
    release=lambda numbers: private_pairs(np.tile(numbers, (np.size(numbers), 1)), graph=all_pairs(np.size(numbers)), rho=RHO),
    audit=Audit(Loss.zcdp(RHO), _draw),
    control=Audit(Loss.zcdp(RHO), _draw_control),
)
