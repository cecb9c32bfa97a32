"""Where a plan starts: from nothing, or from a study that is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from analysis.planning.faces import PlannedDie, letters_of, rolls_of
from candor.designs.design import CheaterModel, Design
from surveys.definition import StudyDefinition
from surveys.drafting.starter import PLANNED_PARTICIPANTS
from surveys.questions.plans import PlannedMargin
from surveys.questions.sections import INTRACLASS_CORRELATION


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The initial values of the fields, and the parts that the page does not change: arms and allocation."""

    arms: tuple[str, ...]
    control: str
    arm_shares: tuple[Fraction, ...]
    subsample_names: tuple[str, ...]
    cheater_model: CheaterModel
    die: PlannedDie
    texts: Mapping[str, str]
    worse: str = "either"

    @property
    def is_survey(self) -> bool:
        return len(self.arms) == 1

    def design(self, die: PlannedDie, *, cheater_model: CheaterModel) -> Design:
        """The design with this die; with another number of subsamples than at the start, they are numbered."""
        kept = len(die.groups) == len(self.subsample_names)
        names = self.subsample_names if kept else tuple(str(number) for number in range(1, len(die.groups) + 1))
        return Design(
            arms=self.arms,
            control=self.control,
            subsamples=tuple(zip(names, die.forced_responses(), strict=True)),
            arm_probabilities=self.arm_shares,
            subsample_probabilities=die.shares,
            cheater_model=cheater_model,
        )


NEW_STUDY = Start(
    arms=("control", "treatment"),
    control="control",
    arm_shares=(Fraction(1, 2), Fraction(1, 2)),
    subsample_names=("1", "2"),
    cheater_model=CheaterModel(name="any"),
    die=PlannedDie(code="6", groups=("ynnttt", "nyyttt")),
    texts={
        "n": str(PLANNED_PARTICIPANTS),
        "effect": "20",
        "prevalence": "40",
        "cheaters": "10",
        "covariates": "0",
        "section": "1",
        "icc": "0",
        "questions": "1",
        "cap": "1.39",
        "power": "80",
        "truth": "25",
        "margin": "0",
        "width": "10",
    },
)


def _of_sections(definition: StudyDefinition) -> dict[str, str]:
    """The size of sections that are assigned as a whole, and how alike they are usually expected to be."""
    if not definition.in_sections:
        return {}
    return {"section": f"{definition.section_size:.1f}".removesuffix(".0"), "icc": f"{100 * INTRACLASS_CORRELATION:g}"}


def _smallest_margin(definition: StudyDefinition) -> PlannedMargin | None:
    """The margin of the analysis plan that needs most people."""
    return min(definition.analysis.margins.values(), key=lambda one: one.points, default=None)


def start_of(definition: StudyDefinition) -> Start:
    """A plan of the study as it is defined; the cap is what its own die spends."""
    design = definition.design()
    code = str(definition.die.sides)
    rolls = rolls_of(code)
    margin = _smallest_margin(definition)
    return Start(
        arms=design.arms,
        control=design.control,
        arm_shares=design.arm_probabilities,
        subsample_names=design.subsample_names,
        cheater_model=CheaterModel(name="any") if design.cheater_model.name == "unknown" else design.cheater_model,
        die=PlannedDie(
            code=code,
            groups=tuple(letters_of(rolls, yes=faces.yes, no=faces.no) for faces in definition.die.subsamples.values()),
            weights=tuple(definition.subsample_weights.values()),
        ),
        texts={
            **NEW_STUDY.texts,
            "n": str(definition.planned_with_die),
            **_of_sections(definition),
            **({} if margin is None else {"margin": f"{margin.points:g}"}),
            "questions": str(max(len(definition.yes_no_questions), 1)),
            "cap": f"{ceil(design.epsilon * 100) / 100:.2f}",
        },
        worse="either" if margin is None or margin.worse is None else margin.worse,
    )
