"""Estimates for people who read a notebook: the same words and numbers as in a terminal, as tables of HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

from candor.designs.design import Design
from candor.estimators.missing_answers import MissingAnswers
from candor.estimators.sensitivity import CheatingSensitivity
from candor.figures.tables import Table, html_table
from candor.results import OutcomeEstimate
from candor.studies.estimate_text import outcome_parts


def estimate_html(
    results: Mapping[str, OutcomeEstimate],
    design: Design,
    *,
    sensitivity: Mapping[str, Sequence[CheatingSensitivity]],
    missing: Mapping[str, MissingAnswers],
    about: Sequence[str] = (),
) -> str:
    """How the outcomes were chosen, then one section for each."""
    columns = "".join(f"<p>{escape(sentence)}</p>" for sentence in about)
    return columns + "".join(
        _section(name, result, design, sensitivity=sensitivity.get(name, ()), missing=missing.get(name)) for name, result in results.items()
    )


def _section(
    name: str, result: OutcomeEstimate, design: Design, *, sensitivity: Sequence[CheatingSensitivity], missing: MissingAnswers | None
) -> str:
    title, *others = (one for part in outcome_parts(name, result, design, sensitivity=sensitivity, missing=missing) for one in part)
    body = "".join(html_table(one) if isinstance(one, Table) else f"<p>{_line(one)}</p>" for one in others)
    return f"<section><h3>{escape(str(title))}</h3>{body}</section>"


def titled_html(titled: tuple[str, Table, tuple[str, ...]]) -> str:
    """One table with its title and notes, as a section."""
    title, found, notes = titled
    return f"<section><h3>{escape(title)}</h3>{html_table(found)}{''.join(f'<p>{escape(note)}</p>' for note in notes)}</section>"


def _line(text: str) -> str:
    """A line of the terminal, unwrapped; HTML does not keep the spaces that hold its columns apart."""
    return escape(re.sub(r"\n *", " ", text).replace("  ", " · "))
