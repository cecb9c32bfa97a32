"""Drawing a concealed allocation list: who is asked directly, the subsample of all others, then the arm. Pure but for its entropy.

The list is drawn before the first participant comes, from operating-system entropy, and its SHA-256 is published. Anybody with the list and
its nonce, published after closing, can recompute the hash with `commitment`. All takes time and memory in proportion to the lines.
"""

import hashlib
import json
import random
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Literal

from surveys.definition import DIRECT

Scheme = Literal["simple", "complete", "permuted_block"]
OF_THE_SYSTEM = secrets.SystemRandom()


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    subsample: str
    arm: str


class Expanded(random.Random):
    """A seed of operating-system entropy, expanded by SHAKE256. Nobody without it can foresee a bit; with it, the same list is drawn again.

    A list that takes minutes to store is drawn from one, so that a worker which takes over goes on with the same list.
    """

    AT_ONCE = 1 << 16

    def __init__(self, seed: bytes) -> None:
        self._seed, self._block, self._place, self._bytes = seed, 0, 0, b""
        super().__init__()

    def getrandbits(self, k: int, /) -> int:
        taken = (k + 7) // 8
        if self._place + taken > len(self._bytes):
            more = hashlib.shake_256(self._seed + self._block.to_bytes(8, "big")).digest(self.AT_ONCE)
            self._bytes, self._block, self._place = self._bytes[self._place :] + more, self._block + 1, 0
        found = int.from_bytes(self._bytes[self._place : self._place + taken], "big")
        self._place += taken
        return found >> (taken * 8 - k)

    def random(self) -> float:
        return self.getrandbits(53) * 2.0**-53


def draw_sequence(
    weights: Mapping[str, int],
    length: int,
    *,
    scheme: Scheme,
    block_multiples: Sequence[int] = (1,),
    entropy: random.Random = OF_THE_SYSTEM,
) -> list[str]:
    """`length` labels in random order.

    `simple`: independent draws with probability proportional to weight. `complete`: shares as exact as whole numbers allow, one
    random permutation. `permuted_block`: blocks of random size (a random multiple of the sum of the weights), each exactly balanced.
    """
    labels = [label for label, weight in weights.items() for _ in range(weight)]
    if scheme == "simple":
        return [entropy.choice(labels) for _ in range(length)]
    sequence: list[str] = []
    while len(sequence) < length:
        multiple = -(-length // len(labels)) if scheme == "complete" else entropy.choice(block_multiples)
        block = labels * multiple
        if scheme == "complete":
            # The last, incomplete round goes to a random choice among the labels, so that nobody can tell which label is one short.
            block = labels * (length // len(labels)) + entropy.sample(labels, length % len(labels))
        entropy.shuffle(block)
        sequence += block
    return sequence[:length]


def draw_list(
    *,
    length: int,
    subsamples: Mapping[str, int],
    arms: Mapping[str, int],
    scheme: Scheme,
    block_multiples: Sequence[int],
    direct_share: Fraction = Fraction(0),
    entropy: random.Random = OF_THE_SYSTEM,
) -> list[Assignment]:
    """The list: who is asked directly, for all others a sequence of subsamples, and for each of these groups its own sequence of arms.

    All draws use the same scheme. The direct group is drawn first, without knowing anybody's consent to it, so that the others are a random
    sample of everybody.
    """

    def draw(weights: Mapping[str, int], several: int) -> list[str]:
        return draw_sequence(weights, several, scheme=scheme, block_multiples=block_multiples, entropy=entropy)

    order = draw(subsamples, length)
    if direct_share:
        groups = draw({DIRECT: direct_share.numerator, "": direct_share.denominator - direct_share.numerator}, length)
        with_die = iter(draw(subsamples, groups.count("")))
        order = [group or next(with_die) for group in groups]
    arms_of = {group: iter(draw(arms, order.count(group))) for group in (*subsamples, DIRECT)}
    line = cache(lambda subsample, arm: Assignment(subsample=subsample, arm=arm))  # a million lines are a few objects
    return [line(group, next(arms_of[group])) for group in order]


def list_document(assignments: Iterable[Assignment], *, study: str, number: int, nonce: str, stratum: str | None = None) -> str:
    """The text whose SHA-256 is published: canonical JSON of the list with its nonce, and with its stratum where the study has any."""
    written = cache(lambda one: _written({"subsample": one.subsample, "arm": one.arm}))
    rest: dict[str, object] = {"study": study, "list": number, "nonce": nonce} | ({} if stratum is None else {"stratum": stratum})
    # The first name of the document in order, before those of the rest.
    return f'{{"assignments":[{",".join(map(written, assignments))}],{_written(rest)[1:]}'


def _written(document: Mapping[str, object]) -> str:
    """Canonical JSON."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def commitment(document: str) -> str:
    """SHA-256 of the list's document, in hexadecimal. The nonce in it (256 bits) keeps short lists from being guessed."""
    return hashlib.sha256(document.encode()).hexdigest()
