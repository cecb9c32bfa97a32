"""``candor answer``: counts from published records, each label standing for any of its leaves."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from candor.cli.group import InputError
from candor.cli.inputs import Input, InputFile
from candor.cli.options import POSITIVE, PROPORTION, format_option
from candor.cli.records import files
from candor.records.reading import read_json
from candor.records.reconstruction import Query, Reconstruction, average_relative_error, desk_relative_error, read_query
from candor.terminal import say_document


@click.command()
@click.argument("published_path", metavar="OUT.json|OUT.csv", type=InputFile())
@files.hierarchies_option
@click.option("--query", "queries", multiple=True, required=True, metavar="JSON|FILE", help="A count (docs/records.md); repeat.")
@click.option("--totals", "totals_path", type=InputFile(), help="JSON file: public totals of values by attribute, to weigh leaves by.")
@files.records_option
@files.roles_option
@click.option("--epsilon", type=POSITIVE, help="With --original: also the error of answers with noise, for this ε in all.")
@click.option("--delta", type=PROPORTION, default=0.0, show_default=True, help="The δ that goes with it; 0 for Laplace noise only.")
@format_option
def answer(
    published_path: Input,
    hierarchies_path: Input | None,
    queries: tuple[str, ...],
    totals_path: Input | None,
    original_path: Input | None,
    roles_path: Input | None,
    epsilon: float | None,
    delta: float,
    output_format: str,
) -> None:
    """Count records that meet a query; labels stand for any of their leaves. With --original the average relative error is said too."""
    hierarchies = files.hierarchies_of(hierarchies_path)
    roles = files.roles_in(roles_path) if roles_path is not None else None
    totals = _totals(totals_path)
    published = Reconstruction(files.checked_records(published_path, roles), hierarchies, totals)
    asked = [_query(text) for text in queries]
    answers = [published.expected(query) for query in asked]
    document: dict[str, object] = {"answers": answers, "weights": "totals" if totals else "uniform"}
    lines = [f"{count:.2f}" for count in answers]
    if original_path is not None:
        original = Reconstruction(files.checked_records(original_path, roles), hierarchies)
        true = [original.expected(query) for query in asked]
        error, left_out = average_relative_error(original, published, asked, rng=np.random.default_rng())
        document |= {"true": true, "average_relative_error": None if np.isnan(error) else error, "left_out": left_out}
        lines = [f"{line} (true: {count:.0f})" for line, count in zip(lines, true, strict=True)]
        lines.append(f"average relative error: {'–' if np.isnan(error) else f'{error:.3f}'}; {left_out} queries left out")
        if epsilon is not None:
            with files.named("--epsilon"):
                error, _ = desk_relative_error(original, asked, epsilon=epsilon, delta=delta)
            document["desk_relative_error"] = None if np.isnan(error) else error
            lines += [] if np.isnan(error) else [f"average relative error of answers with noise: {error:.3f}"]
    elif epsilon is not None:
        raise InputError("--epsilon: expected --original, because noise is added to true counts")
    say_document(document, lines, output_format=output_format)


def _query(text: str) -> Query:
    with files.named("--query"):
        return read_query(read_json(text if text.lstrip().startswith("{") else Path(text).read_bytes()))


def _totals(path: Input | None) -> dict[str, dict[str, float]]:
    if path is None:
        return {}
    document = files.document_in(path)
    if not isinstance(document, dict) or not all(
        isinstance(part, dict) and all(type(number) in (int, float) for number in part.values()) for part in document.values()
    ):
        raise InputError(f"{path}: expected totals as {{ATTRIBUTE: {{VALUE: NUMBER}}}}")
    return document
