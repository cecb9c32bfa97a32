"""Everything in one process, for one computer without servers: web, worker and beat as threads on SQLite and a queue in memory."""

import logging
import os
import signal
import sys
import threading
from contextlib import suppress
from copy import copy
from io import BytesIO
from types import FrameType
from typing import NoReturn
from wsgiref.types import StartResponse, WSGIEnvironment

from celery import Celery, beat
from celery.worker import WorkController
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.db import DatabaseError
from django.http import HttpResponseBase
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import BaseWSGIServer, create_server
from waitress.task import ErrorTask, Task, WSGITask
from waitress.utilities import RequestEntityTooLarge

from config.body_sizes import REFUSED, SMALL, most_from
from config.heartbeat import Scheduler
from jobs.tasks import take_over_everything
from surveys.tasks import leave_no_order

WEB_THREADS = 8
WORKER_THREADS = 2
STOP_SECONDS = 2
# How long a computing thread may keep the others waiting. With Python's 5 ms, pages take half a second while a bootstrap runs.
SWITCH_SECONDS = 0.0005


class Application(WSGIHandler):
    """Django leaves it to the server to send nothing after the headers that answer HEAD; waitress leaves it to the application. A client
    that keeps its connection would take the content for the beginning of the next answer.
    """

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> HttpResponseBase | list[bytes]:  # type: ignore[override]
        response = super().__call__(environ, start_response)
        if environ["REQUEST_METHOD"] != "HEAD":
            return response
        response.close()
        return []


class BoundedParser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
    """Waitress keeps a whole body, on the disk if need be, before the application is asked. So what is too large is refused here, from the
    headers, and what comes in chunks as soon as it is too long.
    """

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        bounds: Adjustments = copy(self.adj)
        bounds.max_request_body_size = 1 + (self._most() if self.chunked or self.content_length > SMALL else SMALL)
        self.adj: Adjustments = bounds

    def _most(self) -> int:
        headers = {f"HTTP_{name}": value for name, value in self.headers.items()}
        try:
            return most_from(WSGIRequest({"REQUEST_METHOD": self.command, "PATH_INFO": self.path, "wsgi.input": BytesIO(), **headers}))
        except DatabaseError:  # nobody can be recognised now
            return SMALL


class RefusedTask(WSGITask):  # type: ignore[misc]
    """Candor's own answer to what the parser refused. Nobody reads the rest, so the connection ends with it."""

    def get_environment(self) -> dict[str, object]:
        return {**super().get_environment(), REFUSED: True}

    def execute(self) -> None:
        self.set_close_on_finish()
        super().execute()


def task_of_error(channel: HTTPChannel, request: HTTPRequestParser) -> Task:
    """Waitress's own answer to what cannot be read; Candor's to what is too large."""
    return (RefusedTask if isinstance(request.error, RequestEntityTooLarge) else ErrorTask)(channel, request)


class BoundedChannel(HTTPChannel):  # type: ignore[misc]
    parser_class = BoundedParser
    error_task_class = staticmethod(task_of_error)


class EmbeddedServer:
    """Binds the port at once, so that a taken one is known before anything starts; `run` serves until SIGINT or SIGTERM."""

    def __init__(self, *, celery: Celery, host: str, port: int) -> None:
        sockets: dict[int, object] = {}
        self.web = create_server(Application(), map=sockets, host=host, port=port, threads=WEB_THREADS, ident=None)
        for listener in sockets.values():  # one for each address that the host's name stands for
            if isinstance(listener, BaseWSGIServer):
                listener.channel_class = BoundedChannel
        self.worker = WorkController(
            app=celery,
            pool_cls="threads",
            concurrency=WORKER_THREADS,
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
            send_events=False,
        )
        self.beat = beat.Service(celery, scheduler_cls=Scheduler)

    def run(self) -> NoReturn:
        """Serve; ends the process with status 0."""
        sys.setswitchinterval(SWITCH_SECONDS)
        # There is no other worker: anything marked as held was left by a killed process.
        take_over_everything()
        with suppress(KeyboardInterrupt):
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, _stop)
            for name, start in (("worker", self.worker.start), ("beat", self.beat.start)):
                threading.Thread(target=start, name=name, daemon=True).start()
            self.web.run()
        self.beat.stop()
        self.worker.terminate()
        leave_no_order()
        if settings.TRACES:
            from config.traces.work import send_the_rest

            send_the_rest()
        logging.shutdown()
        os._exit(0)


def _stop(signal_number: int, frame: FrameType | None) -> NoReturn:
    """Stop once, and in time; answers and tasks that still compute then are dropped.

    Nothing is lost: the sweep at the next start repeats uncommitted tasks.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    deadline = threading.Timer(STOP_SECONDS, os._exit, args=(0,))
    deadline.daemon = True
    deadline.start()
    raise KeyboardInterrupt
