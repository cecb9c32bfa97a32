"""Trees of labels, from the values that people have up to ``*``: given as chains, or intervals of numbers."""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from candor import complaints
from candor.errors import DataError

ROOT = "*"
"""The label of what is not told. It is a label like any other, and no wildcard."""
INTERVAL = "interval"
DEEPEST = 32

Label = str | int | float


class HierarchyError(DataError):
    """A hierarchy that is no tree, or a value that is not among its leaves."""


@dataclass(slots=True)
class Hierarchy:
    """A tree of labels. Node 0 is the root, ``*``; every value is a leaf.

    Attributes
    ----------
    name : str
        Of the attribute.
    labels : list of str, int or float, shape (nodes,)
    parents : list of int, shape (nodes,)
        Of the root: itself. A parent has a smaller number than its children.
    losses : list of float, shape (nodes,)
        The normalised certainty penalty (NCP) of publishing the label: 0 a leaf, 1 the root.
    leaves : dict of str to int
        The node of each value, by its text.
    below : list of int, shape (nodes,)
        How many leaves lie at or below each node.
    """

    name: str
    labels: list[Label] = field(default_factory=lambda: [ROOT])
    parents: list[int] = field(default_factory=lambda: [0])
    losses: list[float] = field(default_factory=lambda: [0.0])
    leaves: dict[str, int] = field(default_factory=dict)
    below: list[int] = field(default_factory=lambda: [0])

    def settle(self) -> None:
        """End the growth of a hierarchy that grows; this one does not."""

    def leaf(self, value: object) -> int:
        """The node of a value.

        Raises
        ------
        HierarchyError
            If the value is not a leaf.
        """
        try:
            return self.leaves[_text(value)]
        except (KeyError, TypeError):
            raise HierarchyError(complaints.NO_LEAF % {"name": repr(self.name), "value": short(value)}) from None

    def chain(self, node: int) -> list[int]:
        """The node and its ancestors, up to the root."""
        found = [node]
        while node:
            node = self.parents[node]
            found.append(node)
        return found

    def common(self, nodes: Iterable[int]) -> int:
        """The lowest node at or above all of these."""
        first, *others = set(nodes)
        for other in others:
            above = set(self.chain(other))
            while first not in above:
                first = self.parents[first]
        return first

    def covers(self, node: int, leaf: int) -> bool:
        """Whether a value may stand behind a label."""
        return node in self.chain(leaf)


def from_chains(name: str, chains: Mapping[str, Sequence[Label]]) -> Hierarchy:
    """A hierarchy from the labels of each value, from the value up to ``*``.

    Parameters
    ----------
    name : str
        Of the attribute, for complaints.
    chains : mapping of str to sequence of str
        ``{"CS305": ["CS305", "CS3**", "CS***", "*"], …}``. A label that follows itself counts once.

    Returns
    -------
    Hierarchy

    Raises
    ------
    HierarchyError
        If there is no value, a chain does not begin with its value or end with ``*``, or a label has two parents or comes back.

    Notes
    -----
    NCP(v) = (leaves at or below v − 1)/(all leaves − 1), and 0 in a hierarchy of one leaf.

    Examples
    --------
    >>> courses = from_chains("course", {"CS1": ["CS1", "CS", "*"], "CS2": ["CS2", "CS", "*"], "ART": ["ART", "*"]})
    >>> [(courses.labels[node], courses.losses[node]) for node in courses.chain(courses.leaf("CS1"))]
    [('CS1', 0.0), ('CS', 0.5), ('*', 1.0)]
    """
    if not chains:
        raise HierarchyError(complaints.NO_VALUE % {"name": repr(name)})
    parent_of: dict[Label, Label] = {}
    for value, written in chains.items():
        chain = _checked_chain(name, value, written)
        for label, parent in pairwise(chain):
            if parent_of.setdefault(label, parent) != parent:
                found = {"name": repr(name), "label": repr(label), "first": repr(parent_of[label]), "second": repr(parent)}
                raise HierarchyError(complaints.TWO_PARENTS % found)
    tree = Hierarchy(name=name)
    numbers: dict[Label, int] = {ROOT: 0}
    for value, written in chains.items():
        above = 0
        for label in reversed(list(dict.fromkeys(written))):
            if label not in numbers:
                numbers[label] = len(numbers)
                tree.labels.append(label)
                tree.parents.append(above)
                tree.below.append(0)
            above = numbers[label]
            tree.below[above] += 1
        tree.leaves[value] = above
    tree.losses = [(count - 1) / max(1, len(chains) - 1) for count in tree.below]
    return tree


def _checked_chain(name: str, value: str, written: object) -> list[Label]:
    if not isinstance(written, Sequence) or isinstance(written, str) or not all(isinstance(label, str) for label in written):
        raise HierarchyError(complaints.NO_CHAIN % {"name": repr(name), "value": repr(value), "found": short(written)})
    told = {"name": repr(name), "value": repr(value)}
    chain = [label for at, label in enumerate(written) if at == 0 or label != written[at - 1]]
    if not 1 <= len(chain) <= DEEPEST:
        raise HierarchyError(complaints.LONG_CHAIN % {**told, "most": DEEPEST, "found": len(chain)})
    if chain[0] != value:
        raise HierarchyError(complaints.BEGINS_ELSEWHERE % {**told, "found": repr(chain[0])})
    if chain[-1] != ROOT:
        raise HierarchyError(complaints.SEVERAL_ROOTS % {**told, "found": repr(chain[-1])})
    if len(set(chain)) < len(chain):
        repeated = next(label for label in chain if chain.count(label) > 1)
        raise HierarchyError(complaints.LOOP % {**told, "label": repr(repeated)})
    return chain


class Intervals(Hierarchy):
    """A hierarchy of numbers: intervals of each width, then ``*``. It grows with every value that is looked up; `settle` ends that.

    Parameters
    ----------
    name : str
        Of the attribute, for complaints.
    widths : float or sequence of float
        Rising, each a multiple of the one before. Intervals begin at multiples of their width.

    Raises
    ------
    HierarchyError
        If a width is not positive or no multiple of the one before.

    Notes
    -----
    Intervals of whole numbers are written with both ends, ``[1990,1994]``; others without the upper one, ``[3.5,4)``.
    NCP of an interval = (high − low)/(largest − smallest value), with the interval cut to the values that occur.
    """

    def __init__(self, name: str, widths: float | Sequence[float]) -> None:
        super().__init__(name=name)
        self.widths = _checked_widths(name, widths)
        self.numbers: list[int | float] = []
        self.places: dict[tuple[int, float], int] = {(len(self.widths), 0): 0}

    def leaf(self, value: object) -> int:
        """The node of a number, made when it is new."""
        try:
            return self.leaves[_text(value)]
        except (KeyError, TypeError):
            number = _number(self.name, value)
        above = 0
        for level, width in reversed(list(enumerate(self.widths))):
            above = self._place(level, _multiples(number, width), above)
        above = self._place(-1, number, above)
        self.labels[above] = number
        self.numbers.append(number)
        self.leaves[_text(value)] = above
        return above

    def _place(self, level: int, at: float, above: int) -> int:
        node = self.places.setdefault((level, at), len(self.labels))
        if node == len(self.labels):
            self.labels.append("")
            self.parents.append(above)
            self.losses.append(0.0)
            self.below.append(0)
        return node

    def settle(self) -> None:
        """Write the labels and losses, now that all values are known."""
        if not self.numbers:
            return
        low, high = min(self.numbers), max(self.numbers)
        whole = all(isinstance(one, int) for one in self.numbers) and all(width == int(width) for width in self.widths)
        self.losses[0] = float(high > low)
        for (level, at), node in self.places.items():
            if 0 <= level < len(self.widths):
                start, stop = at * self.widths[level], (at + 1) * self.widths[level] - whole
                self.labels[node] = f"[{_end(start)},{_end(stop)}{']' if whole else ')'}"
                self.losses[node] = (min(stop, high) - max(start, low)) / (high - low) if high > low else 0.0
        self.below = [0] * len(self.labels)
        for leaf in set(self.leaves.values()):
            for node in self.chain(leaf):
                self.below[node] += 1


def interval_label(value: object, width: float, *, name: str) -> str:
    """The interval of a sensitive number.

    Examples
    --------
    >>> interval_label(3.98, 0.5, name="gpa")
    '[3.5,4)'
    """
    at = _multiples(_number(name, value), width)
    return f"[{_end(at * width)},{_end((at + 1) * width)})"


def _multiples(number: float, width: float) -> int:
    """How many widths lie below a number, whole ones exactly; a quotient that rounding left below a whole number is one."""
    return number // width if isinstance(number, int) and isinstance(width, int) else math.floor(round(number / width, 9))


def _end(number: float) -> str:
    """All digits of a whole number, such as a time in milliseconds; of another one those that rounding leaves."""
    return str(number) if isinstance(number, int) else f"{number:.15g}"


def _checked_widths(name: str, widths: object) -> list[float]:
    steps = list(widths) if isinstance(widths, Sequence) and not isinstance(widths, str) else [widths]
    if not all(isinstance(step, int | float) and not isinstance(step, bool) and is_finite(step) and step > 0 for step in steps):
        raise HierarchyError(complaints.WIDTHS % {"name": repr(name), "found": short(widths)})
    for smaller, larger in pairwise(steps):
        times = larger / smaller
        if larger <= smaller or not is_finite(times) or abs(times - round(times)) > 1e-9:
            found = {"name": repr(name), "smaller": f"{smaller:g}", "larger": f"{larger:g}"}
            raise HierarchyError(complaints.NO_MULTIPLE % found)
    return steps


def halving_widths(values: Iterable[float]) -> list[float]:
    """Widths for numbers without a given hierarchy: each half of the next, the largest about the whole range.

    Examples
    --------
    >>> halving_widths(range(1990, 1998)), halving_widths([2.5, 4.0])
    ([2, 4, 8], [0.125, 0.25, 0.5, 1.0, 2.0])
    """
    found = list(values)
    spread = max(found) - min(found)
    if not spread:
        return [1]
    largest = 2.0 ** math.ceil(math.log2(spread))
    if all(isinstance(value, int) for value in found):
        return [2**power for power in range(1, int(math.log2(largest)) + 1)]
    return [largest / 2**power for power in range(4, -1, -1)]


def read_hierarchies(document: object) -> dict[str, Hierarchy]:
    """The hierarchies of a document ``{NAME: {VALUE: [VALUE, PARENT, …, "*"]}}``; numbers may have ``{"interval": WIDTHS}``.

    Raises
    ------
    HierarchyError
        If a part of the document is not as described.

    Examples
    --------
    >>> births = read_hierarchies({"birth": {"interval": [2, 4]}})["birth"]
    >>> nodes = [births.leaf(year) for year in (1990, 1991, 1994)]
    >>> births.settle()
    >>> [births.labels[node] for node in births.chain(nodes[1])]
    [1991, '[1990,1991]', '[1988,1991]', '*']
    """
    if not isinstance(document, Mapping):
        raise HierarchyError(f"expected hierarchies as {{NAME: {{VALUE: [VALUE, PARENT, …, '*']}}}}, found {short(document)}")
    for name, written in document.items():
        if not isinstance(written, Mapping):
            raise HierarchyError(f"hierarchy {name!r}: expected {{VALUE: [VALUE, PARENT, …, '*']}}, found {short(written)}")
    return {
        name: Intervals(name, written[INTERVAL]) if is_interval(written) else from_chains(name, written)
        for name, written in document.items()
    }


def is_interval(written: object) -> bool:
    """Whether a hierarchy is written as widths of intervals."""
    return isinstance(written, Mapping) and set(written) == {INTERVAL} and not _is_chain(written[INTERVAL])


def _is_chain(written: object) -> bool:
    return isinstance(written, Sequence) and not isinstance(written, str) and bool(written) and isinstance(written[0], str)


def chains_in_table(text: str, *, name: str) -> dict[str, list[str]]:
    """The chains of a table as ARX writes it: a line for each value, from the value up to ``*``, set apart by semicolons, tabs or commas.

    Raises
    ------
    HierarchyError
        If it is no table, a value stands twice, or lines have different lengths.
    """
    lines = text.lstrip("\ufeff").splitlines()
    delimiter = next((mark for mark in ";\t" if mark in "".join(lines[:1])), ",")
    try:
        table = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter))
    except csv.Error as error:
        raise HierarchyError(f"hierarchy {name!r}: not a CSV file: {error}") from None
    chains: dict[str, list[str]] = {}
    for number, cells in enumerate(table, start=1):
        chain = [cell.strip() for cell in cells]
        if not any(chain):
            continue
        if chain[0] in chains:
            raise HierarchyError(f"hierarchy {name!r}, line {number}: the value {chain[0]!r} stands twice")
        if chains and len(chain) != len(next(iter(chains.values()))):
            raise HierarchyError(
                f"hierarchy {name!r}, line {number}: expected {len(next(iter(chains.values())))} labels, found {len(chain)}"
            )
        chains[chain[0]] = chain
    return chains


def _number(name: str, value: object) -> int | float:
    number: object = value
    if isinstance(value, str):
        try:
            number = int(value) if value.strip().lstrip("+-").isdigit() else float(value)
        except ValueError:
            number = None
    if isinstance(number, bool) or not isinstance(number, int | float) or not is_finite(number):
        raise HierarchyError(complaints.NO_NUMBER % {"name": repr(name), "value": short(value)})
    return number if isinstance(number, int) else float(number)


def _text(value: object) -> str:
    """The text by which a value is looked up: 3, 3.0 and "3" are one value."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(value)
    return str(int(value)) if is_finite(value) and value == int(value) else repr(value)


def is_finite(number: float) -> bool:
    """Whether a number, which may be a whole number of any size, is a finite double.

    Examples
    --------
    >>> is_finite(10**300), is_finite(10**400), is_finite(float("inf"))
    (True, False, False)
    """
    return abs(number) <= sys.float_info.max


def short(value: object) -> str:
    """A value in a complaint, cut to one line."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
