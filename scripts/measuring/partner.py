"""A partner who reads facts from a queue to its end: each message id has its effect once, whatever the broker does."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Final

import orjson
import pika

from scripts.measuring.facts_house import QUEUE

UNDER_WAY: Final = 200
LOOK_S: Final = 0.2
QUIET_LOOKS: Final = 10


@dataclass(frozen=True, slots=True)
class Learned:
    """A fact when it was first read."""

    message_id: str
    stream: str
    order: int
    told: dict[str, Any]


class Partner:
    """Reads on a thread of its own, over one line after the other."""

    def __init__(self, amqp_url: str) -> None:
        """Reads nothing yet."""
        self._parameters = pika.URLParameters(amqp_url)
        self._known: set[str] = set()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self.learned: list[Learned] = []
        self.letters = 0
        """How many came, repetitions and all."""

    def start(self) -> None:
        """Read from now on."""
        self._thread.start()

    def read_to_the_end(self) -> None:
        """Return once the queue is empty and stays so; what was read before is not forgotten."""
        self._ending.set()
        self._thread.join()

    def _read(self) -> None:
        while not self._at_the_end():
            continue

    def _at_the_end(self) -> bool:
        """One line: whether it saw the end of the queue."""
        try:
            with pika.BlockingConnection(self._parameters) as line:
                channel = line.channel()
                channel.basic_qos(prefetch_count=UNDER_WAY)
                quiet = 0
                for method, properties, body in channel.consume(QUEUE, inactivity_timeout=LOOK_S):
                    quiet = quiet + 1 if method is None else 0
                    if method is not None:
                        self._take(properties, body)
                        channel.basic_ack(method.delivery_tag)
                    elif self._ending.is_set() and quiet >= QUIET_LOOKS:
                        return True
        except (pika.exceptions.AMQPError, OSError):
            threading.Event().wait(LOOK_S)  # the broker is away: what was not acknowledged comes again
        return False

    def _take(self, properties: Any, body: bytes) -> None:
        self.letters += 1
        name, headers = properties.message_id, properties.headers
        if name not in self._known:
            self._known.add(name)
            self.learned.append(Learned(name, headers["stream"], headers["order"], orjson.loads(body)))
