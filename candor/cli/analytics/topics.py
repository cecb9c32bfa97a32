"""``candor topics``: how many students wrote about each topic in each week, with noise."""

from __future__ import annotations

import io
import math

import click
import yaml

from candor.cli.group import InputError
from candor.cli.inputs import Input, InputFile
from candor.cli.options import POSITIVE, Whole, format_option
from candor.designs.privacy_words import loss
from candor.designs.study_texts import PlainWordsLoader
from candor.errors import DataError
from candor.privacy.noise import HALF_WIDTHS, Noisy
from candor.queries.exactness import Spending
from candor.terminal import say_document
from candor.texts.labelling import Affect
from candor.texts.reading import read_labels
from candor.texts.topic_table.release import private_topic_tables, topic_tables
from candor.texts.word_lists import MOST_TOPICS, WordList


@click.command()
@click.argument("texts", type=InputFile())
@click.option("--words", "word_file", type=InputFile(), required=True, help="YAML or JSON file: topics, each with a list of words.")
@click.option("--weeks", type=Whole(1, 60), required=True, help="Weeks of the term.")
@click.option("--cap", type=Whole(1, MOST_TOPICS), default=2, show_default=True, help="Topics of one student in one week at most.")
@click.option("--epsilon", type=POSITIVE, help="Pure ε of the whole term (Laplace noise).")
@click.option("--rho", type=POSITIVE, help="ρ of the whole term (Gaussian noise).")
@format_option
def topics(texts: Input, word_file: Input, weeks: int, cap: int, epsilon: float | None, rho: float | None, output_format: str) -> None:
    """Count students by topic and affect, with noise.

    TEXTS is a CSV file with columns student, week, text. Texts are English; the loss is one student's whole term.
    """
    if (epsilon is None) == (rho is None):
        raise click.UsageError("say either --epsilon (Laplace noise) or --rho (Gaussian noise)")
    loss = Spending(epsilon=epsilon, rho=rho)
    words = _words(word_file)
    try:
        with io.TextIOWrapper(texts.open("rb"), encoding="utf-8-sig", newline="") as lines:
            labels = read_labels(lines, words=words, weeks=weeks, cap=cap)
    except DataError as error:
        raise InputError(f"{texts}: {error}") from None
    exact = topic_tables(labels, topics=len(words.names), cap=cap)
    noisy = private_topic_tables(exact, cap=cap, epsilon=loss.epsilon, rho=loss.rho)
    say_document(_document(noisy, words), _lines(noisy, words), output_format=output_format)


def _words(source: Input) -> WordList:
    try:
        document = yaml.load(source.read_bytes(), Loader=PlainWordsLoader)  # noqa: S506  (a safe loader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{source}: neither YAML nor JSON: {error}") from None
    if not isinstance(document, dict):
        raise InputError(f"{source}: expected topics, each with a list of words, found {type(document).__name__}")
    try:
        return WordList.of(document)
    except DataError as error:
        raise InputError(f"{source}: {error}") from None


def _document(noisy: Noisy, words: WordList) -> dict[str, object]:
    names = [affect.name.lower() for affect in Affect]
    weeks = [
        {topic: dict(zip(names, counts, strict=True)) for topic, counts in zip(words.names, table, strict=True)}
        for table in noisy.values.tolist()
    ]
    spent = {"rho": noisy.loss.rho, "pure_epsilon": noisy.loss.pure_epsilon}
    return {"weeks": weeks, "noise": noisy.noise, "noise_sd": noisy.noise_sd, "loss": spent}


def _lines(noisy: Noisy, words: WordList) -> list[str]:
    width = max(len("topic"), *map(len, words.names))
    lines = [f"week  {'topic':{width}}  positive  negative      none"]
    for week, table in enumerate(noisy.values.tolist(), start=1):
        for topic, counts in zip(words.names, table, strict=True):
            lines.append(f"{week:4}  {topic:{width}}  " + "  ".join(f"{max(count, 0):8}" for count in counts))
    pure = noisy.loss.pure_epsilon
    cost = f"ρ = {loss(noisy.loss.rho)}" if pure is None else f"ε = {loss(pure)}"
    half = math.ceil(HALF_WIDTHS[noisy.noise] * noisy.noise_sd)
    lines += ["", f"The {noisy.noise} noise moves 95 % of the counts by at most {half}."]
    return [*lines, f"The term costs a student {cost}."]
