"""``candor difficulties``: how difficult the items of a quiz are, with noise for the public or without it for staff."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TypedDict

import click

from candor.cli.group import InputError
from candor.cli.inputs import Input, InputFile
from candor.cli.options import POSITIVE, PROPORTION, OneOf, format_option
from candor.designs.privacy_words import loss
from candor.errors import MethodError
from candor.privacy.losses import Loss
from candor.rasch.answers import Omitted, QuizAnswers
from candor.rasch.baselines import BASELINES, baseline_difficulties
from candor.rasch.before_spending import GAUSSIAN, NOT_GIVEN, PAIRS, PURE, NoiseError, budget
from candor.rasch.item_difficulties import CONDITIONAL, SPECTRAL, item_difficulties
from candor.rasch.reading import read_answers
from candor.rasch.releases import DifficultyRelease, release_difficulties
from candor.terminal import say_document

SUFFICIENT, PRIVATE_SPECTRAL = "sufficient_statistics", "private_spectral"
EXACT, PRIVATE = (CONDITIONAL, SPECTRAL), (SUFFICIENT, PRIVATE_SPECTRAL, *BASELINES)
OPTIONS_OF = {
    SUFFICIENT: {"--delta", "--noise", "--although-noise"},
    PRIVATE_SPECTRAL: {"--delta", "--noise", "--although-noise", "--sparse"},
}
NEIGHBOURS = "one student's whole row is replaced; the number of students is public"
NOISE_OF = {
    GAUSSIAN: "discrete Gaussian noise on totals of items and counts of scores",
    PURE: "cube noise on totals of items, discrete Laplace noise on counts of scores",
    NOT_GIVEN: "discrete Gaussian noise on right and given answers of each item",
    PAIRS: "discrete Gaussian noise on counts of pairs of items",
}
DELTA_UNUSED = "the noise keeps pure ε, and spends no δ"
STAFF_ALONE = "without noise: for staff alone, not for publication"


class Privacy(TypedDict):
    """The privacy loss of a student, and who that is."""

    epsilon: float
    delta: float
    rho: float
    mechanism: str
    neighbours: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The printed result: `items` are numbers by name, `more` stands in the JSON alone."""

    method: str
    items: Sequence[Mapping[str, object]]
    privacy: Privacy | None
    notes: Sequence[str]
    more: dict[str, object]

    @property
    def document(self) -> dict[str, object]:
        return {"method": self.method, "items": self.items, "privacy": self.privacy, "notes": self.notes, **self.more}


@click.command()
@click.argument("responses", type=InputFile())
@click.option(
    "--method",
    type=OneOf([*EXACT, *PRIVATE]),
    help=f"Default: {CONDITIONAL}; with --epsilon {SUFFICIENT}.",
)
@click.option("--epsilon", type=POSITIVE, help="ε of the release; without it nothing is private.")
@click.option("--delta", type=PROPORTION, help="δ of the release, below 1/(10n); Gaussian noise needs it, other noise spends none.")
@click.option("--noise", type=OneOf(["gaussian", "cube"]), help=f"For {SUFFICIENT}. Default: gaussian with --delta, else cube, of pure ε.")
@click.option("--omitted", type=OneOf([rule.value for rule in Omitted]), default="wrong", show_default=True, help="Meaning of an omission.")
@click.option("--student", help="Column of student keys, which is no item. Default: `student`, if there is one.")
@click.option("--sparse", is_flag=True, help=f"For {PRIVATE_SPECTRAL}: compare few pairs of items.")
@click.option("--although-noise", is_flag=True, help="Go on when the difficulties would be noise.")
@format_option
def difficulties(
    responses: Input,
    method: str | None,
    epsilon: float | None,
    delta: float | None,
    noise: str | None,
    omitted: str,
    student: str | None,
    sparse: bool,
    although_noise: bool,
    output_format: str,
) -> None:
    """Estimate how difficult the items of a quiz are.

    RESPONSES is a CSV file: a row for each person, a column of answers 0, 1 or nothing for each item.
    """
    chosen = method or (CONDITIONAL if epsilon is None else SUFFICIENT)
    if (chosen in PRIVATE) != (epsilon is not None):
        raise click.UsageError(f"--method {chosen} needs --epsilon" if epsilon is None else f"--method {chosen} takes no --epsilon")
    about_noise = {"--delta": delta, "--noise": noise, "--sparse": sparse or None, "--although-noise": although_noise or None}
    given = [name for name, value in about_noise.items() if value is not None]
    if epsilon is None and given:
        raise click.UsageError(f"{given[0]} needs --epsilon: without it there is no noise, and nothing is private")
    if unfit := [name for name in given if name not in OPTIONS_OF.get(chosen, {"--delta"})]:
        raise click.UsageError(f"--method {chosen} takes no {unfit[0]}")
    quiz = _read(responses, omitted=Omitted(omitted), student=student)
    if epsilon is None:
        found = _exact(quiz, chosen)
    elif chosen in BASELINES:
        found = _baseline(quiz, chosen, budget(n=quiz.n, epsilon=epsilon))
    else:
        mechanism = _mechanism(chosen, noise=noise, delta=delta, omitted=quiz.omitted)
        loss = budget(n=quiz.n, epsilon=epsilon, delta=None if mechanism == PURE else delta)
        try:
            release = release_difficulties(quiz, loss=loss, mechanism=mechanism, sparse=sparse, although_noise=although_noise)
        except NoiseError as error:
            raise InputError(f"{error} Nothing was spent; --although-noise goes on.") from None
        found = _released(release, chosen, delta=delta)
    if delta is not None and found.privacy is not None and not found.privacy["delta"]:
        found = replace(found, notes=[*found.notes, DELTA_UNUSED])
    say_document(found.document, _lines(found), output_format=output_format)


def _mechanism(method: str, *, noise: str | None, delta: float | None, omitted: Omitted) -> str:
    """The mechanism of a method; all but the cube's noise is Gaussian, whose ε holds with a δ."""
    if method == PRIVATE_SPECTRAL:
        mechanism = PAIRS
    elif omitted is Omitted.NOT_GIVEN:
        mechanism = NOT_GIVEN
    else:
        mechanism = PURE if (noise or ("cube" if delta is None else "gaussian")) == "cube" else GAUSSIAN
    if mechanism != PURE and delta is None:
        raise click.UsageError(f"{NOISE_OF[mechanism]} needs --delta")
    if noise == "cube" and mechanism != PURE:
        raise click.UsageError(f"--noise cube is for {SUFFICIENT} in which an omission is wrong")
    return mechanism


def _read(source: Input, *, omitted: Omitted, student: str | None) -> QuizAnswers:
    try:
        with io.TextIOWrapper(source.open("rb"), encoding="utf-8", newline="") as lines:
            return read_answers(lines, omitted=omitted, student=student)
    except MethodError as error:
        raise InputError(f"{source}: {error}") from None


def _exact(quiz: QuizAnswers, method: str) -> Found:
    found = item_difficulties(quiz, method=method)
    items = [
        {
            "item": item.item,
            "difficulty": item.difficulty,
            "standard_deviation": item.standard_error,
            "right": item.right,
            "answered": item.answered,
        }
        for item in found.items
    ]
    more = {"n": found.n, "omitted": found.omitted, "log_likelihood": found.log_likelihood}
    return Found(method=method, items=items, privacy=None, notes=[*found.notes, STAFF_ALONE], more=more)


def _baseline(quiz: QuizAnswers, method: str, loss: Loss) -> Found:
    found = baseline_difficulties(quiz, method=method, loss=loss)
    deviations = found.standard_deviations or (None,) * quiz.m
    items = [
        {"item": item, "difficulty": value, "standard_deviation": deviation}
        for item, value, deviation in zip(quiz.items, found.difficulties, deviations, strict=True)
    ]
    more = {"n": quiz.n, "omitted": quiz.omitted}
    return Found(method=method, items=items, privacy=_privacy(found.loss, found.noise, delta=None), notes=found.notes, more=more)


def _released(release: DifficultyRelease, method: str, *, delta: float | None) -> Found:
    document = asdict(release)
    more = {name: document[name] for name in ("n", "omitted", "predicted_error", "abilities", "statistics")}
    privacy = _privacy(release.loss, NOISE_OF[release.mechanism], delta=delta)
    return Found(method=method, items=document["items"], privacy=privacy, notes=[], more=more)


def _privacy(loss: Loss, mechanism: str, *, delta: float | None) -> Privacy:
    used = 0.0 if loss.pure_epsilon is not None or delta is None else delta
    return {"epsilon": loss.epsilon(used), "delta": used, "rho": loss.rho, "mechanism": mechanism, "neighbours": NEIGHBOURS}


def _lines(found: Found) -> list[str]:
    width = max(len("item"), *(len(str(item["item"])) for item in found.items))
    lines = [f"{'item':{width}}  difficulty  standard deviation"]
    for item in found.items:
        difficulty, deviation = (f"{item[name]:.3f}" if item[name] is not None else "–" for name in ("difficulty", "standard_deviation"))
        lines.append(f"{item['item']!s:{width}}  {difficulty:>10}  {deviation:>18}")
    spread = found.more.get("abilities")
    if isinstance(spread, dict):
        assumed = "assumed" if spread["assumed"] else "estimated"
        lines += ["", f"Abilities ({assumed}): mean {spread['mean']:.2f}, standard deviation {spread['standard_deviation']:.2f}."]
    lines += ["", *(f"{note[0].upper()}{note[1:]}." for note in found.notes)]
    if found.privacy is not None:
        cost, delta = f"ε = {loss(found.privacy['epsilon'])}", found.privacy["delta"]
        lines.append(f"It costs a student {cost}{f' at δ = {delta:g}' if delta else ''} ({found.privacy['mechanism']}).")
        lines.append(f"Neighbours: {NEIGHBOURS} ({found.more['n']}).")
    return lines
