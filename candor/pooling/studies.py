"""The studies of a pooled analysis: data packages or estimates, each with its own design, under a name of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from candor.designs.design import Design
from candor.errors import DataError, what_came
from candor.packages.loading import DataPackage, key_in, load_package
from candor.studies.answers import Answers
from candor.studies.frames import answers_in

StudySource = DataPackage | str | Path


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PooledStudy:
    """One study: its answers and the text of every question, by the question's name."""

    name: str
    design: Design
    answers: Mapping[str, Answers]
    texts: Mapping[str, str]
    simulated: bool


def studies_of(
    sources: Sequence[StudySource] | Mapping[str, StudySource], *, simulated: bool, verify: bool, key: str | Path | bytes | None
) -> dict[str, PooledStudy]:
    """Read all packages; without names, a study is called as its protocol calls it.

    Raises
    ------
    DataError
        With fewer than two studies, two releases of one study, or simulated data that nobody asked for.
    PackageError
        When a file is no package, or not as it was signed.
    """
    if isinstance(sources, str | Path | DataPackage):
        raise DataError("pooling needs at least 2 studies, found 1")
    if not isinstance(sources, Iterable):
        raise DataError(f"studies: expected data packages or paths of them, found {what_came(sources)}")
    named, pem = sources if isinstance(sources, Mapping) else None, key_in(key)
    packages = [
        one if isinstance(one, DataPackage) else load_package(one, verify=verify, key=pem)
        for one in (sources.values() if isinstance(sources, Mapping) else sources)
    ]
    if len(packages) < 2:
        raise DataError(f"pooling needs at least 2 studies, found {len(packages)}")
    names = (
        list(named) if named is not None else [str(one.protocol.get("study", f"study {place + 1}")) for place, one in enumerate(packages)]
    )
    _refuse_the_same_people(packages, names)
    if not simulated and (bots := [name for name, one in zip(names, packages, strict=True) if one.simulated]):
        raise DataError(
            f"the data of {', '.join(bots)} are simulated: bots gave the answers. Pool them only to try something out, by saying so "
            "(simulated=True, --simulated)"
        )
    return {name: _study(name, package) for name, package in zip(names, packages, strict=True)}


def _refuse_the_same_people(packages: Sequence[DataPackage], names: Sequence[str]) -> None:
    """Two versions of one release have people in common, who would count twice. Its lists show it where the server got another key."""
    seen: dict[object, str] = {}
    for name, package in zip(names, packages, strict=True):
        marks = [(package.server, str(package.protocol.get("study"))), *package.allocation_lists]
        if earlier := next((seen[mark] for mark in marks if mark in seen), None):
            raise DataError(f"{earlier} and {name} are releases of the same study: its people would count twice. Pool the newer one")
        seen |= dict.fromkeys(marks, name)
    if repeated := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise DataError(f"two studies are called {repeated[0]!r}: give them names, such as NAME=FILE on the command line")


def _study(name: str, package: DataPackage) -> PooledStudy:
    if package.design.in_clusters:
        raise DataError(f"{name} assigned clusters as a whole: pooling is known for studies that assigned people one by one")
    if package.design.is_survey:
        raise DataError(f"{name} has one arm: it compares nothing that could be pooled")
    if not package.outcomes:
        raise DataError(f"{name} has no yes/no question: pooling is known for these alone")
    columns = answers_in(package.frame, design=package.design, outcomes=list(package.outcomes), covariates=())
    questions = {str(question["column"]): str(question["name"]) for question in package.protocol["questions"]}
    return PooledStudy(
        name=name,
        design=package.design,
        answers={questions[column]: columns.to(column, design=package.design) for column in package.outcomes},
        texts={questions[column]: text for column, text in package.outcomes.items()},
        simulated=package.simulated,
    )
