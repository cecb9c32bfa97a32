"""Designs and exact cell probabilities, which the unit tests use too."""

from tests.designs import (
    cell_probabilities,
    design,
    identified_design,
    mirrored,
    symmetric,
    symmetric_unknown,
    three_subsamples,
    truth_about,
)

__all__ = [
    "cell_probabilities",
    "design",
    "identified_design",
    "mirrored",
    "symmetric",
    "symmetric_unknown",
    "three_subsamples",
    "truth_about",
]
