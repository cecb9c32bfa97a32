"""A short version of ``benchmarks/fixed_working_models.py``: the bootstrap may keep the working models that were fitted once."""

import pytest

from benchmarks.fixed_working_models import SYMMETRIC, spreads_without_and_with_refits, study_of


@pytest.mark.parametrize("people", [200, 1000])
def test_refitting_the_working_models_would_not_change_the_spread(people):
    """Oracle: every model fitted again in every resample. 400 resamples know the ratio to about two percent."""
    study = study_of(people, subsamples=SYMMETRIC, cheaters="always_no")
    assert all(0.95 < ratio < 1.05 for ratio in spreads_without_and_with_refits(study, resamples=400).values())
