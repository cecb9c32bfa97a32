"""The check that somebody has understood the die: two short situations, which follow from the study's own die.

A wrong answer is explained, and another situation takes its place. Pure; nothing but whether it went well at once is counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from candor.designs.categories import TRUTH
from surveys.journey.fields import Pairs
from surveys.journey.presentation import DieView


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The die says an answer, or truth; the true answer is one of the same answers. Categories have `labels`, yes and no have none."""

    says: str
    truth: str
    labels: Pairs = ()

    @property
    def name(self) -> str:
        return f"{self.says}{':' if self.labels else '-'}{self.truth}"

    @property
    def right(self) -> str:
        return self.truth if self.says == TRUTH else self.says

    @property
    def said(self) -> str:
        """The words of the category that the die says; nothing where it says truth."""
        return dict(self.labels).get(self.says, "")

    @property
    def true_answer(self) -> str:
        """The words of the category that is true."""
        return dict(self.labels).get(self.truth, "")

    def explained(self) -> str:
        """Why the other answer was wrong."""
        if self.labels:
            return self._explained_by_labels()
        match self.name:
            case "yes-no":
                return _(
                    "Not quite. The die said “answer yes”, so you click Yes, although your true answer is no. That is what protects everybody."  # noqa: E501
                )
            case "no-yes":
                return _(
                    "Not quite. The die said “answer no”, so you click No, although your true answer is yes. That is what protects everybody."  # noqa: E501
                )
            case "truth-yes":
                return _("Not quite. The die said “answer truthfully”, and your true answer is yes, so you click Yes.")
            case _:
                return _("Not quite. The die said “answer truthfully”, and your true answer is no, so you click No.")

    def _explained_by_labels(self) -> str:
        words = {"answer": self.said, "truth": self.true_answer}
        if self.said:
            return (
                _(
                    "Not quite. The die chose the answer “%(answer)s”, so you click it, although your true answer is “%(truth)s”. That is what protects everybody."  # noqa: E501
                )
                % words
            )
        return _("Not quite. The die said “answer truthfully”, and your true answer is “%(truth)s”, so you click it.") % words


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One of the two places of the page: a situation, the click, and the words about a wrong one."""

    number: int
    situation: Situation
    given: str = ""
    error: str = ""

    @property
    def legend(self) -> str:
        return _("First situation: what do you click?") if self.number == 1 else _("Second situation: what do you click?")

    @property
    def field(self) -> str:
        return f"check-{self.number}"

    @property
    def hidden_field(self) -> str:
        return f"situation-{self.number}"


def first_checks(die: DieView) -> tuple[Check, ...]:
    return tuple(Check(number=number, situation=ring[0]) for number, ring in enumerate(_rings(die), start=1))


def checked(die: DieView, data: Mapping[str, str]) -> tuple[tuple[Check, ...], bool, bool]:
    """The page after the clicks in `data`, whether all were right, and whether one was wrong (an empty one is not)."""
    found: list[Check] = []
    misunderstood = False
    for first, ring in zip(first_checks(die), _rings(die), strict=True):
        situation = next((one for one in ring if one.name == data.get(first.hidden_field)), first.situation)
        given = data.get(first.field, "")
        if given == situation.right:
            found.append(Check(number=first.number, situation=situation, given=given))
        elif not given:
            found.append(Check(number=first.number, situation=situation, error=_("Choose what you would click.")))
        else:
            misunderstood = True
            following = ring[(ring.index(situation) + 1) % len(ring)]
            found.append(Check(number=first.number, situation=following, error=situation.explained()))
    return tuple(found), not any(one.error for one in found), misunderstood


def _rings(die: DieView) -> tuple[tuple[Situation, ...], ...]:
    """For each place its situations in turn: the die against the truth, beginning with what this die says more often; then the truth."""
    labels = () if die.is_yes_no else tuple((row.says, row.label) for row in die.forced)
    often = [row.says for row in sorted(die.forced, key=lambda row: -len(row.faces))][:2]
    answers = [row.says for row in die.forced]
    rings = (((often[0], often[1]), (often[1], often[0])), ((TRUTH, answers[0]), (TRUTH, answers[-1])))
    return tuple(tuple(Situation(says=says, truth=truth, labels=labels) for says, truth in ring) for ring in rings)
