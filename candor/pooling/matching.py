"""Questions and arms of one study as those of another: by name, or as somebody stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from candor.designs.design import Design
from candor.errors import DataError

Renamed = Mapping[str, Mapping[str, str]]
"""By the common name: the name that a study uses, by study."""


def own_names(common: str, *, studies: Sequence[str], renamed: Renamed) -> dict[str, str]:
    """How every study calls something."""
    return {study: renamed.get(common, {}).get(study, common) for study in studies}


def common_names(there: Mapping[str, Sequence[str]], *, renamed: Renamed, what: str) -> list[str]:
    """All common names in order, of everything that the studies have.

    Parameters
    ----------
    there : mapping of str to sequence of str
        The names that each study uses.
    renamed : mapping
        Those that are called otherwise in some study.
    what : str
        ``"question"`` or ``"arm"``, for the messages.

    Raises
    ------
    DataError
        When a study or a name in `renamed` does not exist, or a name would mean two things.

    Examples
    --------
    >>> common_names({"a": ["attention"], "b": ["focus"]}, renamed={"attention": {"b": "focus"}}, what="question")
    ['attention']
    """
    for common, by_study in renamed.items():
        for study, name in by_study.items():
            if study not in there:
                raise DataError(f"{what} {common!r}: there is no study {study!r}; the studies are {', '.join(there)}")
            if name not in there[study]:
                raise DataError(f"{what} {common!r}: study {study!r} has no {what} {name!r}; it has {', '.join(there[study])}")
            if name != common and common in there[study] and all(other.get(study) != common for other in renamed.values()):
                raise DataError(f"{what} {common!r}: study {study!r} calls another {what} so, besides {name!r}; name that one too")
    found = []
    for study, names in there.items():
        given = {by_study[study]: common for common, by_study in renamed.items() if study in by_study}
        if len(given) < sum(study in by_study for by_study in renamed.values()):
            raise DataError(f"study {study!r}: one {what} stands for two common names")
        found += [given.get(name, name) for name in names]
    return list(dict.fromkeys(found))


def studies_with(question: str, *, asked: Mapping[str, Sequence[str]], renamed: Renamed) -> list[str]:
    """The studies that asked a question, by its common name."""
    own = own_names(question, studies=list(asked), renamed=renamed)
    return [study for study, name in own.items() if name in asked[study] and _is_meant(question, study, name, renamed=renamed)]


def studies_with_contrast(treatment: str, control: str, *, designs: Mapping[str, Design], renamed: Renamed) -> dict[str, int]:
    """The studies that compare these arms, with the place of the contrast among theirs."""
    treatments = own_names(treatment, studies=list(designs), renamed=renamed)
    controls = own_names(control, studies=list(designs), renamed=renamed)
    return {
        study: design.treatments.index(treatments[study])
        for study, design in designs.items()
        if controls[study] == design.control
        and treatments[study] in design.treatments
        and _is_meant(treatment, study, treatments[study], renamed=renamed)
        and _is_meant(control, study, controls[study], renamed=renamed)
    }


def contrasts(designs: Mapping[str, Design], *, renamed: Renamed) -> list[tuple[str, str]]:
    """Every pair (treatment, control) of common names that some study compares."""
    common_names({study: design.arms for study, design in designs.items()}, renamed=renamed, what="arm")
    found = []
    for study, design in designs.items():
        common = {by_study[study]: name for name, by_study in renamed.items() if study in by_study}
        found += [(common.get(treatment, treatment), common.get(design.control, design.control)) for treatment in design.treatments]
    return list(dict.fromkeys(found))


def _is_meant(common: str, study: str, name: str, *, renamed: Renamed) -> bool:
    """Whether a study's own name means this: not when it stands there under another common name."""
    return not any(by_study.get(study) == name for other, by_study in renamed.items() if other != common)
