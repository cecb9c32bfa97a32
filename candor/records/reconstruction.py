"""Counts from published records: each label stands for any of its leaves, with stated probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
import numpy.typing as npt

from candor.errors import DataError, QuestionError
from candor.privacy.conversion import rho_within
from candor.privacy.noise import with_noise
from candor.privacy.sensitivity import Sensitivity
from candor.queries.exactness import MOST_EPSILON, share_of_budget
from candor.records.auditing import INTERVAL
from candor.records.hierarchies import Intervals, read_hierarchies, short
from candor.records.schema import Record

Floats = npt.NDArray[np.float64]
RECONSTRUCTIONS, LEAST_WEIGHT, FITTINGS = 200, 0.25, 30
Condition = Sequence[object] | Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """How many records have these labels, these sensitive values, and a child that has its own.

    A condition is a list of values, or ``{"from": LOW, "to": HIGH}`` for numbers; both ends belong to it, and one may be missing.
    """

    labels: Mapping[str, Condition] = field(default_factory=dict)
    values: Mapping[str, Condition] = field(default_factory=dict)
    child: Query | None = None


def read_query(document: object) -> Query:
    """A query from JSON.

    Raises
    ------
    QuestionError
        If it is not as described.

    Examples
    --------
    >>> read_query({"labels": {"major": ["BIO"]}, "child": {"values": {"grade": ["A", "B"]}}}).child
    Query(labels={}, values={'grade': ['A', 'B']}, child=None)
    """
    if not isinstance(document, Mapping) or not document or not set(document) <= {"labels", "values", "child"}:
        raise QuestionError(f"expected a query with labels, values or child, found {short(document)}")
    for part in ("labels", "values"):
        conditions = document.get(part, {})
        if not isinstance(conditions, Mapping) or not all(_is_condition(one) for one in conditions.values()):
            raise QuestionError(f"{part}: expected NAME: [VALUE, …] or NAME: {{'from': LOW, 'to': HIGH}}, found {short(conditions)}")
    below = read_query(document["child"]) if "child" in document else None
    return Query(labels=document.get("labels", {}), values=document.get("values", {}), child=below)


def _is_condition(condition: object) -> bool:
    if isinstance(condition, Mapping):
        ends = list(condition.values())
        return bool(ends) and set(condition) <= {"from", "to"} and all(type(end) in (int, float) for end in ends)
    return isinstance(condition, Sequence) and not isinstance(condition, str) and bool(condition)


class Reconstruction:
    """Published records, ready to be asked.

    Parameters
    ----------
    records : sequence of dict
        As published, or the originals: then answers are exact.
    hierarchies : mapping
        As they were given to the anonymiser.
    totals : mapping of str to mapping of str to float, optional
        For an attribute, how often each leaf occurs in truth, from a public source. Leaves then weigh so that they are expected in
        proportion to their totals minus the exact occurrences that are published. Never by published labels, which favour what was
        generalised least.

    Raises
    ------
    HierarchyError
        If the hierarchies are not as described.

    Notes
    -----
    Of siblings at most one has a certain value, unless two show the same one somewhere in the file. So their chances are added, and a
    sibling of MATH101 whose label is MATH1** is MATH102 if there are no others.

    The weights of totals are found by iterative proportional fitting: a total minus exact occurrences, taken as the weight itself, would
    count too little where siblings exclude a leaf, and nowhere more instead.

    References
    ----------
    Gursoy, Inan, Nergiz & Saygin (2017), §6.1; Deming & Stephan (1940), On a Least Squares Adjustment of a Sampled Frequency Table When the
    Expected Marginal Totals Are Known, Annals of Mathematical Statistics 11(4).
    """

    def __init__(self, records: Sequence[Record], hierarchies: object, totals: Mapping[str, Mapping[str, float]] | None = None) -> None:
        self.records = records
        self.leaves: dict[str, dict[str, list[str]]] = {}
        for name, tree in read_hierarchies(hierarchies).items():
            if not isinstance(tree, Intervals):
                below = self.leaves[name] = {}
                for value, leaf in tree.leaves.items():
                    for node in tree.chain(leaf):
                        below.setdefault(str(tree.labels[node]), []).append(value)
        self.exact: Counter[tuple[str, str]] = Counter()
        self.told: dict[str, Counter[object]] = {}
        self.ends: dict[str, tuple[float, float]] = {}
        self.repeated: set[str] = set()
        """Attributes of which two siblings show the same value somewhere: a course that was taken twice."""
        for record in records:
            self._collect(record)
        self.totals = totals or {}
        self.known: dict[object, float] = {}
        self.taken: dict[tuple[int, str, str], frozenset[str]] = {}
        """For a label of several leaves below a vertex: those of them that its siblings have. By the vertex above, because leaves that are
        alike may be one object in many records."""
        for record in records:
            self._deal(record)
        self.weights = {name: self._fitted(name) for name in self.totals if name in self.leaves}

    def _collect(self, vertex: Record) -> None:
        for name, label in vertex["quasi_identifiers"].items():
            self.exact[name, str(label)] += 1
            if (ends := _ends(label)) is not None:
                low, high = self.ends.get(name, ends)
                self.ends[name] = min(low, ends[0]), max(high, ends[1])
        for name, value in vertex["sensitive"].items():
            if value is not None:
                self.told.setdefault(name, Counter())[value] += 1
        seen: set[tuple[str, str]] = set()
        for child in vertex["children"]:
            for name, label in child["quasi_identifiers"].items():
                if (name, str(label)) in seen and self._is_leaf(name, label):
                    self.repeated.add(name)
                seen.add((name, str(label)))
            self._collect(child)

    def _deal(self, vertex: Record) -> None:
        """Find the leaves that siblings surely have: those that are shown, and those of a label that as many siblings share as it has."""
        labels: dict[str, Counter[str]] = {}
        for child in vertex["children"]:
            for name, label in child["quasi_identifiers"].items():
                if name not in self.repeated and str(label) in self.leaves.get(name, {}):
                    labels.setdefault(name, Counter())[str(label)] += 1
            self._deal(child)
        for name, found in labels.items():
            taken: set[str] = set()
            for label in sorted(found, key=lambda label: len(self.leaves[name][label])):
                gone = taken.intersection(self.leaves[name][label])
                if gone:
                    self.taken[id(vertex), name, label] = frozenset(gone)
                if found[label] >= len(self.leaves[name][label]) - len(gone):
                    taken.update(self.leaves[name][label])

    def _fitted(self, name: str) -> dict[str, float]:
        """Weights with which the leaves of an attribute are expected in proportion to what their totals leave."""
        vertices: Counter[tuple[str, frozenset[str]]] = Counter()
        waiting = [(record, 0) for record in self.records]
        while waiting:
            vertex, above = waiting.pop()
            waiting += [(child, id(vertex)) for child in vertex["children"]]
            label = str(vertex["quasi_identifiers"].get(name))
            if len(self.leaves[name].get(label, ())) > 1:
                vertices[label, self.taken.get((above, name, label), frozenset())] += 1
        left = {leaf: self.totals[name].get(leaf, 0.0) - self.exact[name, leaf] for leaf in self.leaves[name]["*"]}
        numbers = {leaf: number for number, leaf in enumerate(left)}
        open_ = [[numbers[leaf] for leaf in self._open(name, *one)] for one in vertices]
        leaves, times = np.array([leaf for one in open_ for leaf in one], dtype=np.intp), np.array([*vertices.values()], dtype=float)
        owners = np.repeat(np.arange(len(open_)), [len(one) for one in open_])
        wanted = np.maximum(LEAST_WEIGHT, np.array([*left.values()]))
        weights = wanted.copy()
        for _ in range(FITTINGS if open_ else 0):
            shares = weights[leaves] * (times / np.bincount(owners, weights[leaves]))[owners]
            expected = np.bincount(leaves, shares, len(wanted))
            weights *= np.divide(wanted, expected, where=expected > 0, out=np.ones(len(wanted)))
            weights = np.maximum(weights / weights.max(), 1e-100)
        return dict(zip(left, weights.tolist(), strict=True))

    def _open(self, name: str, label: str, taken: frozenset[str]) -> list[str]:
        """The leaves that a label may stand for."""
        leaves = self.leaves[name][label]
        return [leaf for leaf in leaves if leaf not in taken] or leaves

    def _is_leaf(self, name: str, label: object) -> bool:
        return not isinstance(label, str) or self.leaves.get(name, {}).get(label) == [label]

    def probabilities(self, query: Query) -> Floats:
        """For each record, the probability that it is counted.

        Returns
        -------
        ndarray, shape (records,)
        """
        return np.array([self._probability(record, query) for record in self.records], dtype=float)

    def expected(self, query: Query) -> float:
        """The expected count over all reconstructions; exact, because records are independent of each other."""
        return float(self.probabilities(query).sum())

    def _probability(self, vertex: Record, query: Query, above: int = 0) -> float:
        found = 1.0
        for name, condition in query.labels.items():
            label = vertex["quasi_identifiers"].get(name)
            taken = self.taken.get((above, name, str(label)), frozenset())
            found *= 0.0 if label is None else self._of_label(name, label, condition, taken)
        for name, condition in query.values.items():
            if not found:
                return 0.0
            found *= self._of_value(name, vertex["sensitive"], condition)
        if found and query.child is not None:
            chances = [self._probability(child, query.child, id(vertex)) for child in vertex["children"]]
            once = any(len(one) == 1 and name not in self.repeated for name, one in query.child.labels.items() if isinstance(one, list))
            found *= min(1.0, sum(chances)) if once else 1 - prod(1 - chance for chance in chances)
        return found

    def _of_label(self, name: str, label: object, condition: Condition, taken: frozenset[str]) -> float:
        key = name, str(label), repr(condition), taken
        if key not in self.known:
            if (ends := _ends(label)) is not None or name not in self.leaves:
                self.known[key] = _share(ends or self.ends.get(name, (0.0, 0.0)), label, condition)
            else:
                if str(label) not in self.leaves[name]:
                    raise DataError(f"{name!r}: {label!r} is no label of its hierarchy")
                leaves = self._open(name, str(label), taken)
                fitted = self.weights.get(name, {})
                weights = [fitted.get(leaf, 1.0) for leaf in leaves]
                met = sum(weight for leaf, weight in zip(leaves, weights, strict=True) if _meets(leaf, condition))
                self.known[key] = met / sum(weights)
        return self.known[key]

    def _of_value(self, name: str, values: Mapping[str, object], condition: Condition) -> float:
        """For a blank, the share among all values of the attribute that are told."""
        if name not in values:
            return 0.0
        if (value := values[name]) is not None:
            return _share(_ends(value), value, condition)
        told = self.told.get(name, Counter())
        return sum(count * _share(_ends(one), one, condition) for one, count in told.items()) / max(1, told.total())


def average_relative_error(
    original: Reconstruction, published: Reconstruction, queries: Iterable[Query], *, rng: np.random.Generator
) -> tuple[float, int]:
    """How far counts from published records are from the true ones.

    Parameters
    ----------
    original, published : Reconstruction
    queries : iterable of Query
    rng : numpy.random.Generator

    Returns
    -------
    error : float
        AvRE = mean of |Y − X|/X over the queries and 200 reconstructions.
    left_out : int
        Queries whose true count X is 0.

    References
    ----------
    Gursoy, Inan, Nergiz & Saygin (2017), §6.1.
    """
    errors, left_out = [], 0
    for query in queries:
        true = original.expected(query)
        if not true:
            left_out += 1
            continue
        chances = published.probabilities(query)
        certain, open_ = float((chances == 1).sum()), chances[(chances > 0) & (chances < 1)]
        counts = certain + (rng.random((RECONSTRUCTIONS, len(open_))) < open_).sum(axis=1)
        errors.append(float(np.abs(counts - true).mean() / true))
    return (float(np.mean(errors)) if errors else float("nan")), left_out


def desk_relative_error(original: Reconstruction, queries: Sequence[Query], *, epsilon: float, delta: float = 0.0) -> tuple[float, int]:
    """How far the same counts would be from the true ones if a desk answered them with noise, for one budget in all.

    Parameters
    ----------
    original : Reconstruction
        Of the records as they were. For their keeper: the error itself is no protected number.
    queries : sequence of Query
    epsilon : float
        For all queries together; each gets an equal share.
    delta : float
        0 for pure ε, with Laplace noise.

    Returns
    -------
    error : float
        AvRE, as `average_relative_error` has it; a negative count is answered as 0.
    left_out : int

    Raises
    ------
    QuestionError
        If ε or δ is out of range, or there is no query.

    Notes
    -----
    Changing one record changes each count by at most 1. Laplace or Gaussian noise is used, whichever is smaller for so many queries
    (`candor.queries.exactness.share_of_budget`). Queries whose true count is 0 are asked and paid for, too.

    References
    ----------
    Gursoy, Inan, Nergiz & Saygin (2017), §6.3, Fig. 5–7.
    """
    if not (0 < epsilon <= MOST_EPSILON and 0 <= delta < 1):
        raise QuestionError(f"expected ε above 0 and at most {MOST_EPSILON:g}, and δ from 0 to below 1, found {epsilon:g} and {delta:g}")
    one = Sensitivity(l1=1, l2_squared=1, linf=1)
    share = share_of_budget(one, epsilon=epsilon, rho=rho_within(epsilon, delta) if delta else 0.0, questions=len(queries))
    true = np.array([round(original.expected(query)) for query in queries], dtype=np.int64)
    asked = np.tile(true[true > 0], (RECONSTRUCTIONS, 1))
    if not asked.size:
        return float("nan"), len(true)
    noisy = with_noise(asked, sensitivity=one, rho=share.rho, epsilon=share.epsilon).values
    return float((np.abs(np.maximum(noisy, 0) - asked) / asked).mean()), int((true == 0).sum())


def _ends(label: object) -> tuple[float, float] | None:
    """The ends of an interval or a number."""
    if isinstance(label, int | float) and not isinstance(label, bool):
        return float(label), float(label)
    match = INTERVAL.fullmatch(label) if isinstance(label, str) else None
    # A closed interval is one of whole numbers: it ends before the next one.
    return None if match is None else (float(match[1]), float(match[2]) + (match[3] == "]"))


def _share(ends: tuple[float, float] | None, label: object, condition: Condition) -> float:
    """The share of an interval that meets a condition, every number being equally likely."""
    if ends is None or not isinstance(condition, Mapping):
        if ends is not None and ends[0] < ends[1]:
            whole = [one for one in condition if isinstance(one, int | float) and not isinstance(one, bool) and ends[0] <= one < ends[1]]
            return min(1.0, len(whole) / (ends[1] - ends[0])) if not _meets(label, condition) else 1.0
        return float(_meets(label, condition))
    low, high = condition.get("from", -np.inf), condition.get("to", np.inf)
    if ends[0] == ends[1]:
        return float(low <= ends[0] <= high)
    closed = isinstance(label, str) and label.endswith("]")
    return float(max(0.0, min(1.0, (min(ends[1], high + closed) - max(ends[0], low)) / (ends[1] - ends[0]))))


def _meets(value: object, condition: Condition) -> bool:
    if isinstance(condition, Mapping):
        try:
            number = float(value) if isinstance(value, str | int | float) else np.nan
        except ValueError:
            return False
        return bool(condition.get("from", -np.inf) <= number <= condition.get("to", np.inf))
    return value in condition or str(value) in map(str, condition)
