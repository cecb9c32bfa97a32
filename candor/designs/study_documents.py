"""The design in a study file: what its arms and its die come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from candor.designs.design import Design
from candor.designs.dice import DieDesign
from candor.errors import DesignError


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
    die: DieDesign,
    *,
    arms: Mapping[str, int],
    control: str,
    subsamples: Mapping[str, int],
    cheaters: str | float | Mapping[str, object] | None = None,
    scores: Sequence[float] = (),
) -> Design:
    """The design of a study with this die: forced probabilities from its faces, shares from the weights of arms and subsamples."""
    model: object = {"yes_rate": cheaters} if isinstance(cheaters, int | float) else cheaters

    def build() -> Design:
        return Design.of(
            arms=tuple(arms),
            control=control,
            subsamples=die.forced_responses(),
            arm_probabilities=_shares(arms),
            subsample_probabilities=_shares({name: subsamples[name] for name in die.faces}),
            cheater_model="any" if model is None else model,
            categories=die.categories,
            scores=scores,
        )

    return _built(_Asked(said=repr((die, dict(arms), control, dict(subsamples), model, tuple(scores))), build=build))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A design in words, and the way to build it."""

    said: str
    build: Callable[[], Design] = field(compare=False)


@lru_cache(maxsize=256)
def _built(asked: _Asked) -> Design:
    """The design, built once: a page asks for that of its study a dozen times, and exact fractions are slow."""
    return asked.build()


def _shares(weights: Mapping[str, int]) -> tuple[Fraction, ...]:
    return tuple(Fraction(weight, sum(weights.values())) for weight in weights.values())
