"""Robust, private randomised trials: estimate from collected answers, plan a study, simulate one, open a data package.

Every name is loaded when it is first used, so that ``import candor`` costs nothing. docs/library.md shows each of them at work.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from candor.software import __version__

if TYPE_CHECKING:
    from candor.designs.design import Design
    from candor.designs.sources import read_design
    from candor.errors import (
        DataError,
        DesignError,
        MethodError,
        MissingPackageError,
        NotIdentifiedError,
        PackageError,
        TooFewResponsesError,
    )
    from candor.packages.loading import DataPackage, load_package
    from candor.pooling.pooled_estimates import PooledEstimates, pool
    from candor.regression.trait_regression import TraitRegressions, regress
    from candor.studies.diagnoses import Diagnosis, diagnose
    from candor.studies.estimates import StudyEstimates, estimate
    from candor.studies.plans import PlannedStudy, PlannedSurvey, plan, plan_survey
    from candor.studies.simulations import simulate

__all__ = [
    "DataError",
    "DataPackage",
    "Design",
    "DesignError",
    "Diagnosis",
    "MethodError",
    "MissingPackageError",
    "NotIdentifiedError",
    "PackageError",
    "PlannedStudy",
    "PlannedSurvey",
    "PooledEstimates",
    "StudyEstimates",
    "TooFewResponsesError",
    "TraitRegressions",
    "__version__",
    "diagnose",
    "estimate",
    "load_package",
    "plan",
    "plan_survey",
    "pool",
    "read_design",
    "regress",
    "simulate",
]

_HOMES = {
    "Design": "designs.design",
    "read_design": "designs.sources",
    **dict.fromkeys(("DataError", "DesignError", "MethodError", "MissingPackageError"), "errors"),
    **dict.fromkeys(("NotIdentifiedError", "PackageError", "TooFewResponsesError"), "errors"),
    **dict.fromkeys(("DataPackage", "load_package"), "packages.loading"),
    **dict.fromkeys(("PooledEstimates", "pool"), "pooling.pooled_estimates"),
    **dict.fromkeys(("Diagnosis", "diagnose"), "studies.diagnoses"),
    **dict.fromkeys(("TraitRegressions", "regress"), "regression.trait_regression"),
    **dict.fromkeys(("StudyEstimates", "estimate"), "studies.estimates"),
    **dict.fromkeys(("PlannedStudy", "PlannedSurvey", "plan", "plan_survey"), "studies.plans"),
    "simulate": "studies.simulations",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'candor' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"candor.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
