"""A collector of traces as OTLP/HTTP knows it: it keeps the bytes of each request."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

HOST = "127.0.0.1"


@dataclass
class Collector:
    port: int = 0
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def spans(self) -> list[Span]:
        """In the order in which they ended."""
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        return [span for one in requests for resource in one.resource_spans for scope in resource.scope_spans for span in scope.spans]

    def names(self) -> list[str]:
        """The names of requests and pieces of work, without those of their statements."""
        return [span.name for span in self.spans() if not span.parent_span_id]


def attributes_of(span: Span) -> dict[str, str | int]:
    return {one.key: one.value.string_value or one.value.int_value for one in span.attributes}


@contextmanager
def collector() -> Iterator[Collector]:
    found = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.headers.append({"path": self.path, **{name.lower(): value for name, value in self.headers.items()}})
            found.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            pass

    server = ThreadingHTTPServer((HOST, 0), Handler)
    found.port = server.server_port
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
