"""``candor plan``: the expected findings of a study, before anybody is recruited."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from candor.cli.options import (
    POSITIVE,
    PROPORTION,
    WHOLE,
    all_of,
    cheaters_option,
    design_option,
    effect_option,
    effects_by_arm,
    format_option,
    level_option,
    prevalence_option,
)
from candor.cli.reading import read_design
from candor.cli.tables import number, paragraph, table
from candor.designs.design import Design
from candor.planning.power import StudyPlan, plan_study


@click.command()
@all_of(design_option, effect_option, prevalence_option, cheaters_option)
@click.option("--cheaters-yes-rate", type=PROPORTION, help="How often they say yes; default: as the cheater model states, otherwise 0.5.")
@click.option("--n", type=WHOLE, help="Planned participants; default: as many as --power needs.")
@click.option("--power", type=PROPORTION, default=0.8, show_default=True, help="Target power of the test of no effect.")
@click.option("--questions", type=WHOLE, default=1, show_default=True, help="Sensitive questions, one roll each.")
@click.option("--epsilon-cap", type=POSITIVE, help="Largest privacy loss per question for suggested dice; default: the design's own.")
@all_of(level_option, format_option)
def plan(
    design_path: Path,
    effects: tuple[str, ...],
    prevalence: float,
    cheaters: float,
    cheaters_yes_rate: float | None,
    n: int | None,
    power: float,
    questions: int,
    epsilon_cap: float | None,
    level: float,
    output_format: str,
) -> None:
    """Standard errors, power, participants needed, the cost of privacy and the best die for a design."""
    design = read_design(design_path)
    result = plan_study(
        design,
        prevalence=prevalence,
        effects=effects_by_arm(effects, treatments=design.treatments),
        cheater_proportion=cheaters,
        cheater_yes_rate=cheaters_yes_rate,
        n=n,
        power=power,
        level=level,
        questions=questions,
        epsilon_cap=epsilon_cap,
    )
    if output_format == "json":
        click.echo(json.dumps({"design": design.to_document(), **asdict(result)}, allow_nan=False, ensure_ascii=False, indent=2))
    else:
        click.echo(plan_text(result, design))


def plan_text(plan: StudyPlan, design: Design) -> str:
    """The plan as tables."""
    total = f", {plan.epsilon_total:.3f} for {plan.questions} questions" if plan.questions > 1 else ""
    lines = [
        f"{design.kind.replace('_', ' ')} design, {plan.n} participants, privacy loss ε = {plan.epsilon:.3f} per question{total}",
        paragraph(plan.assumption),
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
    if plan.cheater_proportion is not None:
        lines += [f"Cheater proportion: SE {plan.cheater_proportion.standard_error:.3f}, ±{plan.cheater_proportion.half_width:.3f}", ""]
    if plan.dice:
        lines += [
            f"Mirrored designs at ε ≤ {plan.optimum.epsilon:.3f}, best first (in the second subsample yes and no change places):",
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


def _rolls(rolls: tuple[int, ...]) -> str:
    """Rolls with runs shortened: 1–3, 7."""
    runs: list[list[int]] = []
    for roll in rolls:
        if runs and roll == runs[-1][-1] + 1:
            runs[-1].append(roll)
        else:
            runs.append([roll])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
