"""A design from wherever it stands: a dict, DESIGN.json, the protocol.json of a data package, or a study file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from candor.arguments import path_of
from candor.designs.design import CLUSTER, Design
from candor.designs.study_documents import design_of_study
from candor.errors import DesignError, MethodError

DesignSource = Design | Mapping[str, object] | str | Path


def read_design(source: DesignSource) -> Design:
    """Read the design of a study from any document that holds one.

    Parameters
    ----------
    source : Design, mapping, str or Path
        A design; a document as plain values; or the path of a file: DESIGN.json, the ``protocol.json`` of a data package, or a study
        file (YAML or JSON).

    Returns
    -------
    Design

    Raises
    ------
    DesignError
        When the document cannot be read or is no design; names the file and, where it is known, the place.
    OSError
        When there is no such file.

    Notes
    -----
    A document with the key ``design`` is a protocol, one with ``die`` is a study file, any other is DESIGN.json; its keys are those of
    `Design.from_document`. Probabilities are numbers in [0, 1] or fractions such as ``"2/6"``, and are kept exactly.

    References
    ----------
    Kancharla, M. & Kang, H. (2021). A robust, differentially private randomized experiment for evaluating online educational programs with
    sensitive student data.

    Examples
    --------
    >>> design = read_design({"arms": ["control", "treatment"], "control": "control", "subsamples": {
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}})
    >>> design.kind, round(design.epsilon, 3)
    ('mirrored', 1.386)
    """
    if isinstance(source, Design):
        return source
    if isinstance(source, str | Path):
        return design_in(path_of(source, of="design").read_bytes(), name=str(source))
    return _design_of(source)


def read_planned_design(source: DesignSource, *, cluster_size: float) -> Design:
    """`read_design` for a study that is still to come, whose clusters have this many people; 1 without clusters.

    Raises
    ------
    DesignError
        When whole clusters are assigned and nobody said how large they are: independent people would be planned for.
    """
    found = read_design(source)
    if found.in_clusters and cluster_size <= 1:
        raise DesignError(
            "the design assigns whole clusters: say how many people are in one (--cluster-size, cluster_size=) and how alike they are "
            "(--icc, intraclass_correlation=)"
        )
    return found


def design_in(content: bytes, *, name: str) -> Design:
    """The design in the bytes of a file. A name that ends in .json says JSON, as does a brace at the beginning; anything else is YAML.

    Raises
    ------
    DesignError
        Names the file, and the place where the document cannot be read.
    """
    try:
        text = content.decode("utf-8-sig")
        is_json = name.endswith(".json") or text.lstrip().startswith("{")
        return _design_of(json.loads(text, object_pairs_hook=_without_repetition) if is_json else _from_yaml(text))
    except json.JSONDecodeError as error:
        raise DesignError(f"{name}: not a JSON document: {error.msg} (row {error.lineno}, column {error.colno})") from None
    except UnicodeDecodeError:
        raise DesignError(f"{name}: not a text file in UTF-8") from None
    except MethodError as error:
        raise DesignError(f"{name}: {error}") from None
    except (RecursionError, ValueError) as error:  # nested without end, or a number of thousands of digits
        raise DesignError(f"{name}: not a readable document: {error}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """A design and those that stand beside it in a data package: ``design-NAME.json`` is that of the column ``answer_NAME`` alone.

    Attributes
    ----------
    file : str
        The name of the design's own file; empty where it has none.
    designs : mapping of str to str
        The columns that have a design of their own, each with the name of its file.
    """

    file: str = ""
    designs: Mapping[str, str] = field(default_factory=dict)

    def why_not(self, column: str, *, among: Sequence[str]) -> str | None:
        """Why this design would be the wrong die for a column among others, and None where nothing says so."""
        if (its := self.designs.get(column, self.file)) != self.file:
            return f"has a design of its own, {its}"
        if column not in self.designs and any(file == self.file and one in among for one, file in self.designs.items()):
            return f"is not the question of {self.file}"
        return None


ALONE = Beside()


def designs_beside(source: object) -> Beside:
    """The designs of the data package in which `source` stands. Without a path nothing stands beside the design."""
    if not isinstance(source, str | Path):
        return ALONE
    path = Path(source)
    found = sorted(path.parent.glob("design-*.json"))
    return Beside(file=path.name, designs={f"answer_{one.stem.removeprefix('design-')}": one.name for one in found})


def _design_of(document: object) -> Design:
    if not isinstance(document, Mapping) or not {"design", "die"} & set(document):
        return Design.from_document(document)
    found = Design.from_document(document["design"]) if "design" in document else design_of_study(document)
    allocation = document.get("allocation")  # of the whole study, with what was assigned
    return replace(found, in_clusters=isinstance(allocation, Mapping) and allocation.get("unit") == CLUSTER)


def _from_yaml(text: str) -> object:
    import yaml

    from candor.designs.study_texts import StudyFileLoader, place_of

    try:
        return yaml.load(text, Loader=StudyFileLoader)  # noqa: S506  (a safe loader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        where = place_of(error).removeprefix(", ") if isinstance(error, yaml.YAMLError) else ""
        raise DesignError(f"{where + ': ' if where else ''}not readable as YAML: {getattr(error, 'problem', None) or error}") from None


def _without_repetition(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object, refused when a key stands in it twice: the standard library would keep the last and say nothing."""
    repeated = [key for key, times in Counter(key for key, _ in pairs).items() if times > 1]
    if repeated:
        raise DesignError(f"the key {repeated[0]!r} stands twice in one object")
    return dict(pairs)
