"""The table of how people were assigned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from candor.figures.tables import Table, p_value
from candor.results import AssignmentInference

HOW = "How people were assigned"


def assignment_table(by_outcome: Mapping[str, AssignmentInference], *, contrasts: Sequence[str]) -> Table:
    """One row for each outcome and contrast."""
    rows = [
        [
            f"{name}: {contrast}",
            str(one.clusters),
            str(one.strata),
            "—" if one.intraclass_correlation is None else f"{one.intraclass_correlation:.3f}",
            f"{effect:.2f}",
            f"{freedom:.1f}",
            p_value(drawn),
        ]
        for name, one in by_outcome.items()
        for contrast, effect, freedom, drawn in zip(
            contrasts, one.design_effect, one.degrees_of_freedom, one.randomisation_p_values, strict=True
        )
    ]
    header = ("contrast", "clusters", "strata", "intraclass correlation", "design effect", "df", "randomisation p")
    return Table(header, rows)
