"""A hierarchy as an indented list, which people edit: a label on each line, those below it further to the right, and `*` above all."""

from collections.abc import Sequence
from itertools import pairwise

from django.utils.translation import gettext as _

from analysis.answers.study_records import ROOT, Chains
from analysis.packages.errors import ReleaseError

STEP = "  "
LONGEST = 20_000


def to_list(chains: Chains) -> str:
    """The list, without `*`, under which everything stands."""
    children: dict[str, list[str]] = {}
    for chain in chains.values():
        for label, above in pairwise(chain):
            if label not in children.setdefault(above, []):
                children[above].append(label)
    lines: list[str] = []

    def write(label: str, depth: int) -> None:
        lines.append(STEP * depth + label)
        for child in children.get(label, ()):
            write(child, depth + 1)

    for label in children.get(ROOT, ()):
        write(label, 0)
    return "\n".join(lines)


def to_chains(text: str, *, leaves: Sequence[str], more: bool = False) -> Chains:
    """The chain of every leaf, up to `*`. Raises ReleaseError with the line that is wrong, or the answer that has no place. `more`: the
    list may have further values.
    """
    if len(text) > LONGEST:
        raise ReleaseError(_("Expected at most %(most)s letters.") % {"most": LONGEST})
    path: list[tuple[int, str]] = []
    parents: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.expandtabs(len(STEP)).splitlines(), start=1):
        if not (label := line.strip()) or label == ROOT:
            continue
        indent = len(line) - len(line.lstrip())
        path = [one for one in path if one[0] < indent]
        if label in parents:
            raise ReleaseError(_("Line %(number)s: “%(label)s” stands in the list twice.") % {"number": number, "label": label})
        parents[label] = tuple(above for _indent, above in reversed(path))
        path.append((indent, label))
    groups = {above for chain in parents.values() for above in chain}
    strange = [label for label in parents if label not in groups and label not in leaves]
    if strange and not more:
        raise ReleaseError(_("“%(label)s” has nothing below it and is no answer to the question.") % {"label": strange[0]})
    if missing := [leaf for leaf in leaves if leaf not in parents]:
        raise ReleaseError(_("The answer “%(label)s” has no place in the list.") % {"label": missing[0]})
    if inner := [leaf for leaf in leaves if leaf in groups]:
        raise ReleaseError(_("“%(label)s” is an answer, so nothing can stand below it.") % {"label": inner[0]})
    return {leaf: [leaf, *parents[leaf], ROOT] for leaf in [*leaves, *strange]}
