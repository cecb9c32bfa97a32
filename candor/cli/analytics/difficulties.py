"""``candor difficulties``: how difficult the items of a quiz are, with noise for the public or without it for staff."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from typing import Any

import click

from candor.cli.group import InputError
from candor.cli.inputs import Input, InputFile
from candor.cli.options import format_option
from candor.errors import DataError
from candor.rasch.answers import Omitted, QuizAnswers
from candor.rasch.before_spending import GAUSSIAN, MECHANISMS, NOT_GIVEN, PURE, NoiseError, budget
from candor.rasch.item_difficulties import CONDITIONAL, SPECTRAL, ItemDifficulties, item_difficulties
from candor.rasch.reading import STUDENT, read_answers
from candor.rasch.releases import DifficultyRelease, release_difficulties


@click.command()
@click.argument("answers", type=InputFile())
@click.option("--epsilon", type=float, help="ε of the release; without --delta a pure ε.")
@click.option("--delta", type=float, help="δ of the release, below 1/(10n).")
@click.option("--mechanism", type=click.Choice(MECHANISMS), help="Default: by --delta and --omitted.")
@click.option(
    "--omitted", type=click.Choice([rule.value for rule in Omitted]), default="wrong", show_default=True, help="Meaning of an omission."
)
@click.option("--student", default=STUDENT, show_default=True, help="Column of student keys; every other column is an item.")
@click.option("--sparse", is_flag=True, help="For pairs: compare few pairs of items.")
@click.option("--although-noise", is_flag=True, help="Go on when the difficulties would be noise.")
@click.option("--exact", type=click.Choice([CONDITIONAL, SPECTRAL]), help="For staff: without noise, by this method.")
@format_option
def difficulties(
    answers: Input,
    epsilon: float | None,
    delta: float | None,
    mechanism: str | None,
    omitted: str,
    student: str,
    sparse: bool,
    although_noise: bool,
    exact: str | None,
    output_format: str,
) -> None:
    """Estimate how difficult the items of a quiz are.

    ANSWERS is a CSV file with a column of student keys and a column of answers 0, 1 or nothing for each item.
    """
    if (epsilon is None) == (exact is None):
        raise click.UsageError("say either --epsilon (with noise) or --exact (without, for staff)")
    quiz = _read(answers, omitted=Omitted(omitted), student=student)
    if exact is not None:
        found = item_difficulties(quiz, method=exact)
        click.echo(_json(found) if output_format == "json" else _exact_text(found))
        return
    loss = budget(n=quiz.n, epsilon=epsilon or 0.0, delta=delta)
    chosen = mechanism or (NOT_GIVEN if quiz.omitted is Omitted.NOT_GIVEN else PURE if delta is None else GAUSSIAN)
    try:
        release = release_difficulties(quiz, loss=loss, mechanism=chosen, sparse=sparse, although_noise=although_noise)
    except NoiseError as error:
        raise InputError(f"{error} Nothing was spent; --although-noise goes on.") from None
    click.echo(_json(release) if output_format == "json" else _release_text(release, delta=delta))


def _read(source: Input, *, omitted: Omitted, student: str) -> QuizAnswers:
    try:
        with io.TextIOWrapper(source.open("rb"), encoding="utf-8", newline="") as lines:
            return read_answers(lines, omitted=omitted, student=student)
    except DataError as error:
        raise InputError(f"{source}: {error}") from None


def _json(result: Any) -> str:
    return json.dumps(asdict(result), ensure_ascii=False, allow_nan=False, indent=2)


def _exact_text(found: ItemDifficulties) -> str:
    width = max(len("item"), *(len(item.item) for item in found.items))
    lines = [f"{'item':{width}}  difficulty  standard error  right  answered"]
    for item in found.items:
        numbers = "         –               –" if item.difficulty is None else f"{item.difficulty:10.3f}  {item.standard_error:14.3f}"
        lines.append(f"{item.item:{width}}  {numbers}  {item.right:5}  {item.answered:8}")
    return "\n".join([*lines, "", *found.notes, "Without noise: for staff alone, not for publication."])


def _release_text(release: DifficultyRelease, *, delta: float | None) -> str:
    width = max(len("item"), *(len(item.item) for item in release.items))
    lines = [f"{'item':{width}}  difficulty  95 % interval"]
    for item in release.items:
        interval = "" if item.low is None or item.high is None else f"{item.low:6.2f} to {item.high:5.2f}"
        lines.append(f"{item.item:{width}}  {item.difficulty:10.2f}  {interval}".rstrip())
    spread = release.abilities
    if spread is not None:
        assumed = "assumed" if spread.assumed else "estimated"
        lines += ["", f"Abilities ({assumed}): mean {spread.mean:.2f}, standard deviation {spread.standard_deviation:.2f}."]
    if release.loss.pure_epsilon is not None:
        cost = f"ε = {release.loss.pure_epsilon:.4g}"
    else:
        cost = f"ρ = {release.loss.rho:.4g}" + (f", ε = {release.loss.epsilon(delta):.4g} at δ = {delta:g}" if delta else "")
    return "\n".join([*lines, f"It costs a student {cost}. Neighbours: one student's whole row replaced, {release.n} students."])
