"""A consumer of facts that processes each message id once and reads its queue to the end."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Final

import orjson
import pika

from scripts.benchmarking.servers.facts_stack import QUEUE

PREFETCH: Final = 200
POLL_S: Final = 0.2
QUIET_POLLS: Final = 10


@dataclass(frozen=True, slots=True)
class ReceivedFact:
    """A fact as it was first received."""

    message_id: str
    stream: str
    order: int
    body: dict[str, Any]


class Partner:
    """Reads on its own thread and reconnects after errors."""

    def __init__(self, amqp_url: str) -> None:
        """Prepare a thread that reads the queue; `start` starts it."""
        self._parameters = pika.URLParameters(amqp_url)
        self._seen: set[str] = set()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self.received: list[ReceivedFact] = []
        self.message_count = 0
        """The number of messages received, with repetitions."""

    def start(self) -> None:
        """Start reading."""
        self._thread.start()

    def read_to_the_end(self) -> None:
        """Return once the queue is empty and stays empty."""
        self._ending.set()
        self._thread.join()

    def _read(self) -> None:
        while not self._read_connection():
            continue

    def _read_connection(self) -> bool:
        """Read over one connection; return whether the end of the queue was reached."""
        try:
            with pika.BlockingConnection(self._parameters) as connection:
                channel = connection.channel()
                channel.basic_qos(prefetch_count=PREFETCH)
                quiet = 0
                for method, properties, body in channel.consume(QUEUE, inactivity_timeout=POLL_S):
                    quiet = quiet + 1 if method is None else 0
                    if method is not None:
                        self._process(properties, body)
                        channel.basic_ack(method.delivery_tag)
                    elif self._ending.is_set() and quiet >= QUIET_POLLS:
                        return True
        except (pika.exceptions.AMQPError, OSError):
            threading.Event().wait(POLL_S)  # the broker is down: unacknowledged messages come again
        return False

    def _process(self, properties: Any, body: bytes) -> None:
        self.message_count += 1
        message_id, headers = properties.message_id, properties.headers
        if message_id not in self._seen:
            self._seen.add(message_id)
            self.received.append(ReceivedFact(message_id, headers["stream"], headers["order"], orjson.loads(body)))
