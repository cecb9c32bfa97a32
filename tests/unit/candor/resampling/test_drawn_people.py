"""Drawing people many times at once against the multinomial distribution that it must be."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from candor.resampling import drawn_people
from candor.resampling.drawn_people import draw_people


def drawn_from(people, *, replicates, seed=1):
    drawn = np.full((replicates, people), np.nan)
    draw_people(drawn, np.random.default_rng(seed))
    return drawn


class KnownNumbers:
    """A generator whose numbers of 16 bits are all that there are, and whose fractions lie evenly between 0 and 1."""

    def integers(self, low, high, size, dtype):
        assert (low, high, dtype) == (0, 2**64, np.uint64)
        return np.resize(np.arange(2**16, dtype="<u2"), 4 * size).view("<u8")

    def random(self, size):
        return (np.arange(size) + 0.5) / size


@pytest.mark.parametrize("mean", [0.0, 0.03, 0.5, 0.936, 1.0])
def test_two_counts_from_one_number_have_exactly_the_probabilities_of_poisson(mean):
    """The table and the parts that did not fit into it add up to the product of SciPy's probabilities."""
    pairs, whole, parts = drawn_people._poisson_pairs(mean)
    first, second = pairs[:whole].view(np.uint8).reshape(-1, 2).astype(int).T
    found = np.zeros((25, 25))
    np.add.at(found, (first, second), 2.0**-16)
    found += np.diff(parts, prepend=0.0).reshape(25, 25) / 2**16
    one = stats.poisson.pmf(np.arange(25), mean)
    np.testing.assert_allclose(found, np.outer(one, one), atol=1e-15)
    assert whole / 2**16 + parts[-1] / 2**16 == pytest.approx(1.0, abs=1e-12)
    assert one.sum() == pytest.approx(1.0, abs=1e-15)


def test_counts_are_read_from_the_table_and_from_what_is_left_over():
    """With each number of 16 bits ten times, each pair comes as often as it is probable, to the roundings of what is left over."""
    counts = np.empty(2 * 10 * 2**16)
    drawn_people._draw_poisson(counts, 0.9, KnownNumbers())
    pairs = counts.reshape(-1, 2).astype(int)
    found = np.bincount(pairs[:, 0] * 25 + pairs[:, 1], minlength=625).reshape(25, 25) / len(pairs)
    one = stats.poisson.pmf(np.arange(25), 0.9)
    np.testing.assert_allclose(found, np.outer(one, one), atol=1.1 / len(pairs))


@pytest.mark.parametrize("people", [1, 2, 3, 5, 6])
def test_every_outcome_of_a_few_people_is_as_frequent_as_the_multinomial_distribution_says(people):
    """Pearson's test over all outcomes; no other one occurs."""
    replicates = 60_000
    drawn = drawn_from(people, replicates=replicates).astype(int)
    outcomes = [one for one in product(range(people + 1), repeat=people) if sum(one) == people]
    expected = replicates * stats.multinomial(people, np.full(people, 1 / people)).pmf(outcomes)
    code = (people + 1) ** np.arange(people)
    values, frequencies = np.unique(drawn @ code, return_counts=True)
    seen = dict(zip(values.tolist(), frequencies.tolist(), strict=True))
    found = [seen.pop(int(np.dot(one, code)), 0) for one in outcomes]
    assert not seen
    assert len(outcomes) == 1 or stats.chisquare(found, expected * replicates / expected.sum()).pvalue > 1e-7


def test_a_person_of_many_is_drawn_as_a_binomial_count_and_nobody_is_favoured():
    drawn = drawn_from(1001, replicates=3000)
    assert set(drawn.sum(axis=1)) == {1001.0}
    expected = drawn.size * stats.binom(1001, 1 / 1001).pmf(np.arange(6))
    found = np.bincount(drawn.astype(int).reshape(-1))
    assert stats.chisquare([*found[:6], found[6:].sum()], [*expected, drawn.size - expected.sum()]).pvalue > 1e-7
    by_person = drawn.sum(axis=0)
    assert stats.chisquare(by_person).pvalue > 1e-7
    neighbours = np.corrcoef(drawn[:, 0:1000:2].reshape(-1), drawn[:, 1:1001:2].reshape(-1))[0, 1]
    assert abs(neighbours + 1 / 1000) < 5.5 / np.sqrt(drawn.size / 2)  # as for any two people: −1/(n − 1)


def test_rows_are_drawn_one_by_one_where_the_first_counts_are_too_many(monkeypatch):
    """Without the margin below, half of the rows have too many people at first; they have the same distribution."""
    monkeypatch.setattr(drawn_people, "_DEVIATIONS_BELOW", 0.0)
    test_every_outcome_of_a_few_people_is_as_frequent_as_the_multinomial_distribution_says(5)
    test_a_person_of_many_is_drawn_as_a_binomial_count_and_nobody_is_favoured()


def test_nobody_to_draw_from_is_an_error():
    with pytest.raises(ValueError, match="nobody to draw from"):
        drawn_from(0, replicates=2)
