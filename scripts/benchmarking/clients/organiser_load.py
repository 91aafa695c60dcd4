"""Load on the facts stack: organisers changing events over HTTP, and bursts of issued tickets."""

from __future__ import annotations

import random
import threading
import time
from typing import Any, Final

import requests

from scripts.benchmarking.servers.facts_stack import FactsStack
from scripts.local_stack.organiser import Organiser
from shared.clock import wall_clock

CLIENTS: Final = 6
PAUSE_S: Final = 0.1
BURST: Final = 1_000
BURST_EVENTS: Final = 12
BURST_EVERY_S: Final = 5.0
FIRST_OF_BURSTS: Final = 900_000  # event numbers that no real event has
HOUR_MS: Final = 3_600_000
TIMEOUT_S: Final = 30


class OrganiserLoad:
    """Several clients that change random events; every change is unique, so that none can be mistaken for another."""

    def __init__(self, stack: FactsStack, events: int) -> None:
        """Create the events."""
        self._stack = stack
        organiser = Organiser(stack.address, stack.demo["api_token"])
        self._headers = {"Authorization": f"Bearer {stack.demo['api_token']}"}
        self._events = [self._create_event(organiser, n) for n in range(events)]
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._change, args=(n,), daemon=True) for n in range(CLIENTS)]
        self._threads.append(threading.Thread(target=self._burst, daemon=True))
        self.confirmed: list[str] = []
        """The descriptions of the changes that the server has confirmed."""
        self.latencies: list[tuple[int, float]] = []
        """When each change was requested, and after how many milliseconds it was confirmed."""
        self.burst_facts = 0
        """The number of committed facts from bursts."""
        self.errors: list[str] = []

    def _create_event(self, organiser: Organiser, n: int) -> str:
        start_at = wall_clock() + (n + 30) * 24 * HOUR_MS
        event = {
            "venue_id": self._stack.demo["venue"]["id"],
            "name": f"Night {n}",
            "start_at": start_at,
            "end_at": start_at + 4 * HOUR_MS,
            "description": "as planned",
        }
        return str(organiser.post("/api/events", event)["id"])

    def start(self) -> None:
        """Start the load."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop after the requests under way; RuntimeError if any failed."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        if self.errors:
            raise RuntimeError(f"{len(self.errors)} requests failed; the first: {self.errors[0]}")

    def _change(self, client: int) -> None:
        random_source, number = random.Random(client), 0
        with requests.Session() as session:
            while not self._stop.wait(PAUSE_S * random_source.random() * 2):
                number += 1
                self._patch(session, random_source.choice(self._events), f"change {number} of client {client}")

    def _patch(self, session: requests.Session, event: str, description: str) -> None:
        body: dict[str, Any] = {"description": description}
        url = f"{self._stack.address}/api/events/{event}"
        at, started = wall_clock(), time.perf_counter()
        try:
            response = session.patch(url, json=body, headers=self._headers, timeout=TIMEOUT_S)
        except requests.RequestException as error:
            self.errors.append(type(error).__name__)
            return
        if response.ok:
            self.confirmed.append(description)
            self.latencies.append((at, (time.perf_counter() - started) * 1_000))
        else:
            self.errors.append(f"{response.status_code} {response.text[:200]}")

    def _burst(self) -> None:
        while not self._stop.wait(BURST_EVERY_S):
            self._stack.record_facts(BURST, BURST_EVENTS, FIRST_OF_BURSTS)
            self.burst_facts += BURST
