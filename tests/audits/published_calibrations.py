"""Calibrations that were published and are wrong, as attacks for the audits. They exist nowhere else, and their noise can be repeated."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from candor.rasch.pairs.release import LEAST_COUNT, all_pairs
from candor.rasch.small_quizzes import complete_rows, quiz
from candor.rasch.spectral import spectral_difficulties

PAPER_RIDGE = 0.01


def differences_from_final_difficulties(world: int, runs: int, *, m: int, variance: float, rng: np.random.Generator) -> np.ndarray:
    """How much harder the second half of the items looks, from spectral difficulties alone; the last person solved one half or the other.

    The others solved every set of items once, so that no pair of items stands out. The noise on the counts is rounded normal, which at
    these variances is discrete Gaussian to three digits.
    """
    row = [int(item >= m // 2) if world == 0 else int(item < m // 2) for item in range(m)]
    table = np.vstack([complete_rows(m), row])
    graph = all_pairs(m)
    exact = quiz(table).solved_first_not_second()[graph]
    scores = []
    for part in np.array_split(np.arange(runs), max(1, runs // 5000)):
        rates = np.zeros((len(part), m, m))
        rates[:, graph] = np.maximum(exact + np.rint(rng.normal(0, np.sqrt(variance), (len(part), len(exact)))), LEAST_COUNT)
        difficulties = spectral_difficulties(rates)
        scores.append(difficulties[:, m // 2 :].sum(axis=1) - difficulties[:, : m // 2].sum(axis=1))
    return np.concatenate(scores)


def counts_without_noise_on_zeros(world: int, runs: int, *, variance: float, rng: np.random.Generator) -> np.ndarray:
    """A count that nobody or one person is in; noise only if it is not empty. Score: whether the release is not 0."""
    exact = np.full(runs, world)
    return (np.where(exact == 0, 0, exact + np.rint(rng.normal(0, np.sqrt(variance), runs))) != 0).astype(float)


class Algorithm1:
    """Algorithm 1 of the workflow paper: joint likelihood, b of length Gamma(m, √m/ε), released δ.

    For one answer table the output δ determines b, with abilities that follow δ. So the density of the output is known, and the score is
    its exact log ratio between two tables.
    """

    def __init__(self, tables: tuple[np.ndarray, np.ndarray], epsilon: float) -> None:
        self.tables, self.epsilon, self.m = tables, epsilon, tables[0].shape[1]

    def scores(self, world: int, runs: int, rng: np.random.Generator) -> np.ndarray:
        """Log ratios of the densities of outputs that were drawn in one world."""
        direction = rng.normal(size=(runs, self.m))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        noise = direction * rng.gamma(self.m, np.sqrt(self.m) / self.epsilon, (runs, 1))
        difficulties = self.minimum(noise, self.tables[world])
        return self.log_density(difficulties, self.tables[1]) - self.log_density(difficulties, self.tables[0])

    def minimum(self, noise: np.ndarray, table: np.ndarray) -> np.ndarray:
        """δ at the minimum of equation (6), shape (runs, m). People with one score have one ability."""
        score, people = np.unique(table.sum(axis=1), return_counts=True)
        totals, g = table.sum(axis=0), len(score)
        at = np.zeros((len(noise), g + self.m))
        weights = np.concatenate([people, np.ones(self.m)])

        def height(at):
            abilities, difficulties = at[:, :g], at[:, g:]
            fit = (people[:, None] * np.logaddexp(0, abilities[:, :, None] - difficulties[:, None, :])).sum(axis=(1, 2))
            linear = ((totals + noise) * difficulties).sum(axis=1) - (people * score * abilities).sum(axis=1)
            return fit + linear + PAPER_RIDGE / 2 * (weights * at**2).sum(axis=1)

        before = height(at)
        for _ in range(200):
            right = expit(at[:, :g, None] - at[:, None, g:])
            slope = np.concatenate([people * (right.sum(axis=2) - score), totals + noise - (people[:, None] * right).sum(axis=1)], axis=1)
            slope += PAPER_RIDGE * weights * at
            if np.abs(slope).max() < 1e-7:
                return at[:, g:]
            both = people[:, None] * right * (1 - right)
            curvature = np.zeros((len(at), g + self.m, g + self.m))
            curvature[:, :g, g:], curvature[:, g:, :g] = -both, -both.transpose(0, 2, 1)
            diagonal = np.concatenate([both.sum(axis=2), both.sum(axis=1)], axis=1) + PAPER_RIDGE * weights
            curvature[:, np.arange(g + self.m), np.arange(g + self.m)] = diagonal
            step = -np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
            length = np.ones(len(at))
            for _ in range(40):
                there = height(at + length[:, None] * step)
                higher = there > before + 1e-9
                if not higher.any():
                    break
                length = np.where(higher, length / 2, length)
            at, before = at + length[:, None] * step, there
        raise AssertionError("the minimum was not reached")

    def log_density(self, difficulties: np.ndarray, table: np.ndarray) -> np.ndarray:
        """The log-density of the output, up to a constant that both tables share: h(b)·|∂b/∂δ| with b = ΣP − ΣX − λδ, equation (9)."""
        score, people = np.unique(table.sum(axis=1), return_counts=True)
        low, high = np.full((len(difficulties), len(score)), -1000.0), np.full((len(difficulties), len(score)), 1000.0)
        for _ in range(70):
            middle = (low + high) / 2
            above = expit(middle[:, :, None] - difficulties[:, None, :]).sum(axis=2) + PAPER_RIDGE * middle > score
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        right = expit(low[:, :, None] - difficulties[:, None, :])
        noise = (people[:, None] * right).sum(axis=1) - table.sum(axis=0) - PAPER_RIDGE * difficulties
        both = right * (1 - right)
        jacobian = np.einsum("rgi,rgj,rg,g->rij", both, both, 1 / (both.sum(axis=2) + PAPER_RIDGE), people)
        jacobian -= np.einsum("rgi,g,ij->rij", both, people, np.eye(self.m)) + PAPER_RIDGE * np.eye(self.m)
        return -self.epsilon / np.sqrt(self.m) * np.linalg.norm(noise, axis=1) + np.linalg.slogdet(jacobian)[1]
