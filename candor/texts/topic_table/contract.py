"""The promise of the topic table, the attack on it, and the slides' calibration, which the same attack catches."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np

from candor.privacy.auditing import Audit, Scores
from candor.privacy.contracts import Contract, Small
from candor.privacy.losses import Loss
from candor.privacy.noise import discrete_laplace
from candor.privacy.sensitivity import Sensitivity, Whole
from candor.texts.topic_table.release import NOTHING, private_topic_tables, sensitivity, topic_tables

EPSILON, CAP = 1.0, 2
# "At most one of the counts changes by 1" (slides of 003) forgets a student with two topics, and a row that is replaced.
SLIDES = Sensitivity(l1=1, l2_squared=1, linf=1)


def _rows(topics: int, weeks: int, cap: int) -> Whole:
    week = [labels for labels in product(range(NOTHING, 3), repeat=topics) if sum(label > NOTHING for label in labels) <= cap]
    return np.array(list(product(week, repeat=weeks)))


# One student liked topics 1 and 2, or disliked both; nobody else wrote. One week, two topics.
PAIR = [topic_tables(np.array([[labels]]), topics=2, cap=CAP) for labels in ((0, 0), (1, 1))]


def _draw(world: int, runs: int) -> Scores:
    # One week of many topics is as many runs of two: their noise is independent, and of the same scale.
    many = np.tile(PAIR[world], (1, runs, 1))
    return _score(private_topic_tables(many, cap=CAP, epsilon=EPSILON).values)


def _draw_control(world: int, runs: int) -> Scores:
    return _score(discrete_laplace(np.tile(PAIR[world], (1, runs, 1)), sensitivity=SLIDES, epsilon=EPSILON).values)


def _score(noisy: Whole) -> Scores:
    by_run = np.clip(noisy.reshape(-1, 2, 3), 0, 1)
    return np.asarray((by_run[:, :, 1] - by_run[:, :, 0]).sum(axis=1), dtype=np.float64)


CONTRACT = Contract(
    name="topics × affect",
    small=tuple(
        Small(_rows(topics, weeks, cap), partial(topic_tables, topics=topics, cap=cap), sensitivity(cap=cap, weeks=weeks), n=1)
        for topics, weeks, cap in ((2, 1, 1), (3, 1, 2), (2, 2, 1), (2, 2, 2))
    ),
    release=lambda tables: private_topic_tables(np.asarray(tables)[None, None], cap=CAP, epsilon=EPSILON),
    audit=Audit(Loss.pure(EPSILON), _draw),
    control=Audit(Loss.pure(EPSILON), _draw_control),
    runs=10_000,
)
