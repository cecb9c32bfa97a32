"""A trace: one span for a request or a piece of work, and one for each of its first statements.

A statement's span has the kind of statement and the table. No text of a statement, no parameter, no header, no address that was typed, no
message of an error gets into a span: every word of it stands in the source code.
"""

import re
from dataclasses import dataclass
from functools import cache
from threading import Lock, local

from django.apps import apps
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, set_span_in_context

from candor.software import __version__
from config.metrics.statements import Execute, look_at_statements

MOST_STATEMENTS = 200
"""Statements of one trace that get a span; the others are counted."""
TIMED = "statements are timed"
STATEMENT = re.compile(r'\s*(?=(\w+))(?:(?:SELECT|DELETE)\b.*?\bFROM|INSERT\b.*?\bINTO|UPDATE)\s+"(\w+)"', re.DOTALL)


@dataclass
class Trace:
    """A request or a piece of work that has begun and not yet ended."""

    span: Span
    context: Context
    statements: int = 0

    def end(self, *, failed: bool, **attributes: int) -> None:
        self.span.set_attributes({"candor.statements": self.statements, **attributes})
        if failed:
            self.span.set_status(StatusCode.ERROR)
        self.span.end()


class Now(local):
    """The trace of this thread: none, unless something that `config.traces.safe` names began it."""

    trace: Trace | None = None


NOW = Now()


def begin_request(*, method: str, route: str) -> None:
    _begin(f"{method} {route}", SpanKind.SERVER, {"http.request.method": method, "http.route": route})


def begin_work_of(kind: str) -> None:
    _begin(f"work {kind}", SpanKind.CONSUMER, {"candor.kind": kind})


def _begin(name: str, kind: SpanKind, attributes: dict[str, str]) -> None:
    """Begin a trace of its own: it leads to nobody who asked for the page or for the work."""
    span = tracer().start_span(name, Context(), kind, attributes)
    NOW.trace = Trace(span, set_span_in_context(span, Context()))


FIRST = Lock()


def provider() -> TracerProvider:
    """Made at the first trace of a process, so that each process has its own thread that sends. Variables of the standard configure it.

    Two threads may begin their first traces at once: a second provider would never be asked for what it still has to send.
    """
    with FIRST:
        return _provider()


@cache
def _provider() -> TracerProvider:
    made = TracerProvider(resource=Resource.create({"service.version": __version__}))
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return made


@cache
def tracer() -> Tracer:
    return provider().get_tracer("candor")


@cache
def tables() -> frozenset[str]:
    return frozenset(model._meta.db_table for model in apps.get_models(include_auto_created=True))


def time_statements() -> None:
    """From now on, statements of what is traced have spans."""
    look_at_statements(_timed, name=TIMED)


def _timed(execute: Execute, sql: str, params: object, many: bool, context: object) -> object:
    if (trace := NOW.trace) is None:
        return execute(sql, params, many, context)
    trace.statements += 1
    if trace.statements > MOST_STATEMENTS:
        return execute(sql, params, many, context)
    found = STATEMENT.match(str(sql))
    operation, table = found.groups() if found else ("statement", "")
    told = {"db.operation.name": operation} | ({"db.collection.name": table} if table in tables() else {})
    span = tracer().start_span(" ".join(told.values()), trace.context, SpanKind.CLIENT, told)
    try:
        return execute(sql, params, many, context)
    finally:
        span.end()
