"""Everything in one process, for one computer without servers: web, worker and beat as threads on SQLite and a queue in memory."""

import logging
import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from celery import Celery, beat
from celery.worker import WorkController
from django.core.handlers.wsgi import WSGIHandler
from waitress.server import create_server

from config.heartbeat import Scheduler
from jobs.tasks import take_over_everything
from surveys.tasks import leave_no_order

WEB_THREADS = 8
WORKER_THREADS = 2
STOP_SECONDS = 2
# How long a computing thread may keep the others waiting. With Python's 5 ms, pages take half a second while a bootstrap runs.
SWITCH_SECONDS = 0.0005


class EmbeddedServer:
    """Binds the port at once, so that a taken one is known before anything starts; `run` serves until SIGINT or SIGTERM."""

    def __init__(self, *, celery: Celery, host: str, port: int) -> None:
        self.web = create_server(WSGIHandler(), host=host, port=port, threads=WEB_THREADS, ident=None)
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
