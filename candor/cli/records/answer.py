"""``candor answer``: counts from published records, each label standing for any of its leaves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from candor.cli.group import InputError
from candor.cli.inputs import Input, InputFile
from candor.cli.options import format_option
from candor.cli.records import files
from candor.records.reading import read_json
from candor.records.reconstruction import Query, Reconstruction, average_relative_error, desk_relative_error, read_query


@click.command()
@click.argument("published_path", metavar="OUT.json|OUT.csv", type=InputFile())
@files.hierarchies_option
@click.option("--query", "queries", multiple=True, required=True, metavar="JSON|FILE", help="A count (docs/records.md); repeat.")
@click.option("--totals", "totals_path", type=InputFile(), help="JSON file: public totals of values by attribute, to weigh leaves by.")
@files.records_option
@files.roles_option
@click.option("--epsilon", type=float, help="With --original: also the error of answers with noise, for this ε in all.")
@click.option("--delta", type=float, default=0.0, show_default=True, help="The δ that goes with it; 0 for Laplace noise only.")
@format_option
def answer(
    published_path: Input,
    hierarchies_path: Path | None,
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
    document: dict[str, Any] = {"answers": [published.expected(query) for query in asked], "weights": "totals" if totals else "uniform"}
    if original_path is not None:
        original = Reconstruction(files.checked_records(original_path, roles), hierarchies)
        document["true"] = [original.expected(query) for query in asked]
        error, left_out = average_relative_error(original, published, asked, rng=np.random.default_rng())
        document |= {"average_relative_error": None if np.isnan(error) else error, "left_out": left_out}
        if epsilon is not None:
            with files.named("--epsilon"):
                error, _ = desk_relative_error(original, asked, epsilon=epsilon, delta=delta)
            document["desk_relative_error"] = None if np.isnan(error) else error
    elif epsilon is not None:
        raise InputError("--epsilon: expected --original, because noise is added to true counts")
    files.say(document, output_format, _lines(document))


def _query(text: str) -> Query:
    with files.named("--query"):
        return read_query(read_json(text if text.lstrip().startswith("{") else Path(text).read_bytes()))


def _totals(path: Input | None) -> dict[str, dict[str, float]]:
    if path is None:
        return {}
    document = files.document_in(path)
    parts = list(document.values()) if isinstance(document, dict) else [None]
    if not all(isinstance(part, dict) and all(type(number) in (int, float) for number in part.values()) for part in parts):
        raise InputError(f"{path}: expected totals as {{ATTRIBUTE: {{VALUE: NUMBER}}}}")
    return dict(document)


def _lines(document: dict[str, Any]) -> Iterator[str]:
    for at, count in enumerate(document["answers"]):
        yield f"{count:.2f}" + (f" (true: {document['true'][at]:.0f})" if "true" in document else "")
    if "true" in document:
        error = document["average_relative_error"]
        yield "average relative error: " + ("–" if error is None else f"{error:.3f}") + f"; {document['left_out']} queries left out"
    if (desk := document.get("desk_relative_error")) is not None:
        yield f"average relative error of answers with noise: {desk:.3f}"
