"""The design in a study file: YAML as the file has it, and what its arms and its die come to."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any

import yaml

from candor.designs.design import Design
from candor.designs.dice import DieDesign
from candor.errors import DesignError


class StudyFileLoader(yaml.SafeLoader):
    """YAML 1.2's booleans only, so that `yes` and `no` stay words; a key that stands twice is an error."""

    yaml_implicit_resolvers = {  # noqa: RUF012  (as PyYAML declares it)
        first: [(tag, pattern) for tag, pattern in resolvers if tag not in ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Refuse a repeated key: YAML would keep the last and say nothing."""
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise yaml.constructor.ConstructorError(None, None, "a key must be one word", key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} stands twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep=deep)

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> Any:
        """JSON writes characters beyond 16 bits as two halves; together they are one character."""
        value = super().construct_scalar(node)
        return value.encode("utf-16", "surrogatepass").decode("utf-16") if isinstance(value, str) else value

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse aliases, with which a short file could become endless."""
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "aliases (*name) are not allowed", mark)
        return super().compose_node(parent, index)


StudyFileLoader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


def place_of(error: yaml.YAMLError) -> str:
    """Where a document cannot be read, such as ``", line 3, column 1"``; empty when the error names no place."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    return f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""


def design_of_study(document: Mapping[str, Any]) -> Design:
    """The design that a study file describes: its arms with their weights, its die, and what it assumes about cheaters.

    Parameters
    ----------
    document : mapping
        The study file as plain values.

    Returns
    -------
    Design

    Raises
    ------
    DesignError
        When arms or die are missing or cannot be a design.

    Examples
    --------
    >>> design = design_of_study({"arms": [{"name": "slides", "weight": 2}, {"name": "face"}], "control": "slides",
    ...     "die": {"subsamples": {"1": {"yes": [1], "no": [2, 3]}, "2": {"yes": [1, 2], "no": [3]}}}})
    >>> design.kind, [str(share) for share in design.arm_probabilities]
    ('mirrored', ['2/3', '1/3'])
    """
    try:
        die, arms = document["die"], {arm["name"]: arm.get("weight", 1) for arm in document["arms"]}
        faces = {str(name): die["subsamples"][name] for name in sorted(die["subsamples"], key=str)}
        weights = {str(name): weight for name, weight in (die.get("weights") or {}).items()}
        rolled = DieDesign(sides=die.get("sides", 6), faces=faces)
        return design_with_die(
            rolled,
            arms=arms,
            control=document["control"],
            subsamples={name: weights.get(name, 1) for name in faces},
            cheaters=die.get("cheaters"),
        )
    except (KeyError, TypeError, AttributeError, ZeroDivisionError) as error:
        raise DesignError(
            f"a study file must have arms with names, control, and a die with the faces of its subsamples ({type(error).__name__}: {error})"
        ) from error


def design_with_die(
    die: DieDesign, *, arms: Mapping[str, int], control: str, subsamples: Mapping[str, int], cheaters: str | float | None = None
) -> Design:
    """The design of a study with this die: forced probabilities from its faces, shares from the weights of arms and subsamples."""
    model = "any" if cheaters is None else cheaters if isinstance(cheaters, str) else {"yes_rate": cheaters}
    return Design.of(
        arms=tuple(arms),
        control=control,
        subsamples=die.forced_responses(),
        arm_probabilities=_shares(arms),
        subsample_probabilities=_shares({name: subsamples[name] for name in die.faces}),
        cheater_model=model,
    )


def _shares(weights: Mapping[str, int]) -> tuple[Fraction, ...]:
    return tuple(Fraction(weight, sum(weights.values())) for weight in weights.values())
