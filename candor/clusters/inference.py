"""The results about an assignment in clusters or within strata. It needs no SciPy."""

from __future__ import annotations

from dataclasses import dataclass

CLUSTERED, STRATIFIED = "efficient_clustered", "efficient_stratified"
"""The names of the methods."""
FEW_CLUSTERS = 8
"""With fewer in an arm, intervals rest on the t-distribution more than on the data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentInference:
    """The uncertainty that comes from how people were assigned.

    Attributes
    ----------
    clusters : int
        How many; everybody is one where people were assigned one by one.
    strata : int
    degrees_of_freedom : tuple of float
        Of every contrast.
    randomisation_p_values : tuple of float or None
        Of every contrast; None where clusters do not differ.
    intraclass_correlation : float or None
        Of the reported answers, by analysis of variance within the cells; None without clusters.
    clusters_per_arm : tuple of float
        How many clusters of one size the clusters of each arm are worth.
    design_effect : tuple of float
        Of every contrast: the variance of Δ̂ divided by that of as many people who were assigned one by one.
    """

    clusters: int
    strata: int
    degrees_of_freedom: tuple[float, ...]
    randomisation_p_values: tuple[float | None, ...]
    intraclass_correlation: float | None
    clusters_per_arm: tuple[float, ...]
    design_effect: tuple[float, ...]
