"""``candor query``: one question about a table, under a budget that a local file keeps."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from candor.cli.group import InputError
from candor.cli.inputs import Input, InputFile
from candor.cli.options import POSITIVE, PROPORTION, WHOLE, format_option
from candor.designs.privacy_words import loss, remainder
from candor.errors import MethodError
from candor.queries.budget_file import BudgetError, BudgetFile, opened
from candor.queries.columns import Table
from candor.queries.exactness import Spending, share_of_budget
from candor.queries.kinds import read_question
from candor.queries.questions import Question, epsilon_for
from candor.queries.reading import read_schema, read_table
from candor.terminal import say_document
from candor.written_json import json_in


@click.command()
@click.argument("data_path", metavar="DATA.csv", type=InputFile())
@click.option("--schema", "schema_path", required=True, type=InputFile(), help="JSON file that declares columns and their values.")
@click.option("--question", "question_path", required=True, type=InputFile(), help="JSON file with the question.")
@click.option("--budget-file", required=True, type=click.Path(dir_okay=False, path_type=Path), help="Keeps charges and answers.")
@click.option("--epsilon", type=POSITIVE, help="The ε of a new budget file.")
@click.option("--delta", type=PROPORTION, help="The δ of a new budget file; below one in ten times the number of students.")
@click.option("--questions", type=WHOLE, help="How many questions are planned: spends an equal share, with the noise that is smaller.")
@click.option("--error", type=POSITIVE, help="Spends the epsilon at which the answer is exact to this much.")
@click.option("--preview", is_flag=True, help="Say the cost, the error and what is left; spend nothing.")
@format_option
def query(
    data_path: Input,
    schema_path: Input,
    question_path: Input,
    budget_file: Path,
    epsilon: float | None,
    delta: float | None,
    questions: int | None,
    error: float | None,
    preview: bool,
    output_format: str,
) -> None:
    """Ask one question about DATA.csv; the answer has noise, and its price is taken from the budget.

    The same question again gives the same answer and costs nothing.
    """
    schema, student = read_schema(_json(schema_path))
    written = data_path.read_bytes()
    with opened(budget_file, epsilon=epsilon, delta=delta) as budget:
        try:
            table = read_table(written, schema=schema, student=student, secret=budget.secret)
        except MethodError as problem:
            raise InputError(f"{data_path}: {problem}") from None
        if budget.delta >= 1 / (10 * table.n):
            raise BudgetError(f"expected δ below 1/(10·{table.n}) = {1 / (10 * table.n):.3g}, found {budget.delta:g}")
        budget.belongs_to(hashlib.sha256(schema_path.read_bytes() + b"\0" + written).hexdigest())
        question = _question(_json(question_path), budget, table, questions=questions, error=error)
        question.check(schema)
        document = _previewed(question, budget, table)
        if not preview:
            document |= {"answer": budget.ask(question, table), "left": budget.left()}
    say_document(document, _lines(document), output_format=output_format)


def _question(document: object, budget: BudgetFile, table: Table, *, questions: int | None, error: float | None) -> Question:
    """The question, with its own ε or ρ, or the one that an option asks for."""
    if questions is None and error is None:
        return read_question(document)
    if questions is not None and error is not None:
        raise click.UsageError("Give either --questions or --error.")
    if not isinstance(document, dict) or {"epsilon", "rho"} & {name for name, value in document.items() if value is not None}:
        raise InputError("expected a question without epsilon and rho, because --questions or --error finds them")
    question = read_question(document | {"epsilon": budget.epsilon})
    question.check(table.schema)
    if error is not None:
        found = epsilon_for(question, error, table.schema, table.n)
        if found is None:
            raise BudgetError(f"expected an error that ε = 10 can reach, found {error:g}")
        return replace(question, spending=Spending(epsilon=found))
    rho = 0.0 if question.pure_only else budget.rho
    return replace(question, spending=share_of_budget(question.sensitivity, epsilon=budget.epsilon, rho=rho, questions=questions or 1))


def _previewed(question: Question, budget: BudgetFile, table: Table) -> dict[str, object]:
    return {
        "question": question.document(),
        "sentence": question.sentence(),
        "error": question.error(table.schema, table.n),
        "mostly_noise": question.is_mostly_noise(table.schema, table.n),
        "free": budget.earlier(question) is not None,
        "fits": budget.fits(question.price),
        "privacy": question.statement(table.n),
        "left": budget.left(),
    }


def _lines(document: Mapping[str, Any]) -> list[str]:
    privacy, left = document["privacy"], document["left"]
    cost = f"epsilon {loss(privacy['epsilon'])}" if privacy["epsilon"] is not None else f"rho {loss(privacy['rho'])}"
    lines = [
        document["sentence"] + ".",
        f"Cost: {'nothing, it was asked before' if document['free'] else cost} ({privacy['mechanism']} noise). "
        f"Error: ± {document['error']:.4g} with 95 %.",
    ]
    if not (document["free"] or document["fits"]):
        lines.append("The budget does not allow this question.")
    if document["mostly_noise"]:
        lines.append("The error exceeds a typical answer: this answer is mostly noise.")
    for cell in document.get("answer", {}).get("cells", ()):
        name = ", ".join(cell["labels"])
        number = "" if cell["value"] is None else f"{cell['value']:.6g}"
        interval = "" if cell["low"] is None else f" ({cell['low']:.6g} to {cell['high']:.6g})"
        lines.append(f"  {name}{': ' if name and (number or interval) else ''}{number}{interval}")
    lines += document.get("answer", {}).get("notes", ())
    pure = "" if left["epsilon"] is None else f", or epsilon {remainder(left['epsilon'])} while all questions are pure"
    lines.append(f"Left: rho {remainder(left['rho'])}{pure}. Neighbours: {privacy['neighbours']}.")
    return lines


def _json(source: Input) -> object:
    try:
        return json_in(source.read_bytes())
    except ValueError as problem:
        raise InputError(f"{source}: expected a JSON document: {problem}") from None
