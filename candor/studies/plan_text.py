"""A plan for people who read a terminal: tables of contrasts and of dice, and every note."""

from __future__ import annotations

from candor.designs.design import Design
from candor.designs.privacy_words import loss
from candor.figures.tables import number, paragraph, table
from candor.planning.information import Scenario
from candor.planning.margins import MarginPlan
from candor.planning.pareto import FrontDesign
from candor.planning.power import StudyPlan
from candor.planning.survey_precision import SurveyPlan


def survey_plan_text(plan: SurveyPlan, design: Design) -> str:
    """The plan of a survey as a table."""
    lines = [
        f"{design.kind.replace('_', ' ')} design, survey of {plan.n} participants, privacy loss ε = {loss(plan.epsilon)} per question, "
        f"{loss(plan.epsilon_total)} in total",
        paragraph(plan.assumption),
        paragraph(_expected(plan.scenario, design)),
        "",
    ]
    if plan.bounds is None:
        cost = "—" if plan.cost_of_privacy is None else f"{plan.cost_of_privacy:.2f}×"
        numbers = [number(plan.prevalence), number(plan.standard_error), f"±{number(plan.half_width)}", str(plan.participants_needed)]
        header = ["", "expected", "SE", f"{100 * plan.level:g} % interval", "n for the wanted interval", "cost of privacy"]
        lines += [table(header, [["prevalence", *numbers, cost]]), ""]
    if plan.cheater_standard_error is not None:
        lines += [f"Cheater proportion: SE {number(plan.cheater_standard_error)}"]
    return "\n".join([*lines, *(paragraph(note, bullet="• ") for note in plan.notes)])


def _expected(scenario: Scenario, design: Design) -> str:
    """The expectations that the numbers follow from."""
    cheaters, rate, explained = 1 - scenario.honest_proportion, scenario.cheater_yes_rate, scenario.covariate_r_squared
    said = [
        f"prevalence {number(scenario.prevalence[design.control_index])} in {design.control}",
        f"cheater proportion {number(cheaters)}",
        *([f"yes rate of cheaters {number(rate)}"] if cheaters else []),
        *([f"R² of covariates {number(explained)}"] if explained else []),
    ]
    return f"Expected: {', '.join(said)}."


def plan_text(plan: StudyPlan, design: Design) -> str:
    """The plan as tables."""
    total = f", {loss(plan.epsilon_total)} for {plan.questions} questions" if plan.questions > 1 else ""
    lines = [
        f"{design.kind.replace('_', ' ')} design, {plan.n} participants, privacy loss ε = {loss(plan.epsilon)} per question{total}",
        paragraph(plan.assumption),
        paragraph(_expected(plan.scenario, design)),
        "",
        table(
            ["contrast", "effect", "SE", "power", f"n for {plan.target_power:g}", "ordinary trial: SE", "n", "cost of privacy"],
            [
                [
                    f"{one.treatment} − {one.control}",
                    number(one.effect, signed=True),
                    number(one.standard_error),
                    number(one.power, 2),
                    str(one.participants_needed or "—"),
                    number(one.ordinary_standard_error),
                    str(one.ordinary_participants_needed or "—"),
                    "—" if one.cost_of_privacy is None else f"{one.cost_of_privacy:.2f}×",
                ]
                for one in plan.contrasts
            ],
        ),
        "",
    ]
    if plan.margins:
        rows = [
            [
                f"{one.treatment} − {one.control}",
                in_words(one),
                number(one.effect, signed=True),
                number(one.power, 2),
                str(one.participants_needed or "—"),
            ]
            for one in plan.margins
        ]
        lines += [table(["contrast", "to be shown", "effect", "power at least", f"n for {plan.target_power:g}"], rows), ""]
    if plan.cheater_proportion is not None:
        lines += [f"Cheater proportion: SE {plan.cheater_proportion.standard_error:.3f}, ±{plan.cheater_proportion.half_width:.3f}", ""]
    if plan.dice:
        lines += [
            f"Mirrored designs at ε ≤ {plan.optimum.epsilon:.3f}, smallest standard error of the effect first (in the second subsample yes "
            "and no change places):",
            table(
                ["die", "answer yes", "answer no", "ε", f"SE of effect, n={plan.n}", "SE of cheaters"],
                [
                    [
                        die.die,
                        _rolls(die.yes),
                        _rolls(die.no),
                        number(die.epsilon),
                        number(die.unit_effect_error / plan.n**0.5),
                        number(die.unit_honest_proportion_error / plan.n**0.5),
                    ]
                    for die in plan.dice
                ]
                + [
                    [
                        "any shares",
                        number(plan.optimum.smaller_forced),
                        number(plan.optimum.larger_forced),
                        number(plan.optimum.epsilon),
                        number(plan.optimum.unit_effect_error / plan.n**0.5),
                        number(plan.optimum.unit_honest_proportion_error / plan.n**0.5),
                    ]
                ],
            ),
            "",
        ]
    return "\n".join([*lines, *(paragraph(note, bullet="• ") for note in plan.notes)]).rstrip()


def in_words(one: MarginPlan) -> str:
    """The statement that a test against a margin is to show."""
    return {"more_yes": f"< {one.margin:g}", "fewer_yes": f"> −{one.margin:g}"}.get(one.worse or "", f"within ±{one.margin:g}")


def front_text(front: tuple[FrontDesign, ...], *, n: int) -> str:
    """The designs to choose from as a table."""
    if not front:
        return "No die that people own keeps epsilon below the cap with so many rolls for the truth."
    rows = [
        [
            f"{one.sides}-sided",
            " ".join(f"{no}/{yes}" for no, yes in one.faces),
            ":".join(map(str, one.weights)),
            number(one.epsilon, 2),
            str(one.participants_needed or "—"),
            number(one.unit_effect_error / n**0.5),
            number(one.unit_honest_proportion_error / n**0.5),
            "yes" if one.robust else "no",
            ", ".join(one.best_at),
        ]
        for one in front
    ]
    header = ["die", "faces no/yes", "shares", "ε", "people needed", f"SE of effect, n={n}", "SE of cheaters", "robust", "best at"]
    explained = (
        "No design of this table beats another one in everything. Faces are how many say no and yes, by subsample; robust means that the "
        "effect stays identified when cheaters answer differently in each arm."
    )
    return "\n".join([paragraph(explained), table(header, rows)])


def _rolls(rolls: tuple[int, ...]) -> str:
    """Rolls with runs shortened: 1–3, 7."""
    runs: list[list[int]] = []
    for roll in rolls:
        if runs and roll == runs[-1][-1] + 1:
            runs[-1].append(roll)
        else:
            runs.append([roll])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
