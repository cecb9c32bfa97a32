"""The seed follows from the answers, whatever they are called and in whatever order they come."""

import numpy as np

from candor.resampling.seeds import seed_of

FIRST = np.array([[[13, 7], [11, 9]], [[9, 11], [7, 13]]])
SECOND = FIRST + 1


def test_the_same_answers_give_the_same_seed_whatever_their_order_and_type():
    assert seed_of([FIRST, SECOND]) == seed_of([SECOND.tolist(), FIRST.astype(float)])


def test_one_more_answer_gives_another_seed():
    more = FIRST.copy()
    more[0, 0, 0] += 1
    assert len({seed_of([FIRST]), seed_of([more]), seed_of([FIRST, FIRST]), seed_of([FIRST.reshape(1, 4, 2)])}) == 4


def test_a_key_hides_which_arm_has_which_counts():
    """Negative control: without a key the seeds of the two orders of arms are known to everybody."""
    turned = FIRST[::-1]
    assert seed_of([FIRST]) == seed_of([FIRST.copy()])
    assert seed_of([FIRST]) != seed_of([turned])
    assert seed_of([FIRST], key=b"secret") not in (seed_of([FIRST]), seed_of([turned]))


def test_a_seed_fits_where_the_platform_stores_it():
    assert all(0 <= seed_of([FIRST + number]) < 2**31 for number in range(200))
