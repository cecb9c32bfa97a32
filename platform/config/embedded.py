"""Everything in one process, for one computer without servers: web, worker and beat as threads on SQLite and a queue in memory."""

import logging
import os
import signal
import sys
import threading
from types import FrameType
from typing import Any, NoReturn

from celery import Celery, beat
from celery.worker import WorkController
from django.core.handlers.wsgi import WSGIHandler
from waitress.server import create_server

from config.heartbeat import Scheduler

WEB_THREADS = 8
WORKER_THREADS = 2
STOP_SECONDS = 2.0
# How long a computing thread may keep the others waiting. With Python's 5 ms, pages take half a second while a bootstrap runs.
SWITCH_SECONDS = 0.0005

logger = logging.getLogger(__name__)


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
        for name, part in (("worker", self.worker.start), ("beat", lambda: self.beat.start(embedded_process=True))):
            threading.Thread(target=part, name=name, daemon=True).start()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _stop)
        self.web.run()  # returns after KeyboardInterrupt, having let its threads finish what they answer
        self.beat.stop()
        self._stop_worker()
        logging.shutdown()
        # A task may still compute. It is not waited for: whatever it had not committed, the sweep at the next start does again.
        os._exit(0)

    def _stop_worker(self) -> None:
        stopping = threading.Thread(target=self.worker.terminate, daemon=True)
        stopping.start()
        stopping.join(STOP_SECONDS)


def _stop(number: int, frame: FrameType | None) -> Any:
    raise KeyboardInterrupt
