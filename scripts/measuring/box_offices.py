"""Organisers and box offices at work: changes of real events over HTTP from many sides, and bursts of tickets."""

from __future__ import annotations

import random
import threading
import time
from typing import Any, Final

import requests

from scripts.house.organiser import Organiser
from scripts.measuring.facts_house import FactsHouse
from shared.clock import wall_clock

OFFICES: Final = 6
PAUSE_S: Final = 0.1
BURST: Final = 1_000
BURST_EVENTS: Final = 12
BURST_EVERY_S: Final = 5.0
FIRST_OF_BURSTS: Final = 900_000  # numbers that no real event has
HOUR_MS: Final = 3_600_000
PATIENCE_S: Final = 30


class BoxOffices:
    """Each changes whichever event comes next; no two changes are alike, so that none can stand for another."""

    def __init__(self, house: FactsHouse, events: int) -> None:
        """Make the events."""
        self._house = house
        organiser = Organiser(house.address, house.made["api_token"])
        self._headers = {"Authorization": f"Bearer {house.made['api_token']}"}
        self._events = [self._made(organiser, n) for n in range(events)]
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._change, args=(n,), daemon=True) for n in range(OFFICES)]
        self._threads.append(threading.Thread(target=self._burst, daemon=True))
        self.answered: list[str] = []
        """The words of changes that the server has confirmed."""
        self.waited: list[tuple[int, float]] = []
        """When each was asked for, and after how many milliseconds it was confirmed."""
        self.told = 0
        """Facts of bursts that are committed."""
        self.trouble: list[str] = []

    def _made(self, organiser: Organiser, n: int) -> str:
        begins = wall_clock() + (n + 30) * 24 * HOUR_MS
        event = {
            "venue_id": self._house.made["venue"]["id"],
            "name": f"Night {n}",
            "start_at": begins,
            "end_at": begins + 4 * HOUR_MS,
            "description": "as planned",
        }
        return str(organiser.post("/api/events", event)["id"])

    def open(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Let everybody end what they are at."""
        self._over.set()
        for thread in self._threads:
            thread.join()
        if self.trouble:
            raise RuntimeError(f"{len(self.trouble)} requests failed; the first: {self.trouble[0]}")

    def _change(self, office: int) -> None:
        chance, turn = random.Random(office), 0
        with requests.Session() as line:
            while not self._over.wait(PAUSE_S * chance.random() * 2):
                turn += 1
                self._ask(line, chance.choice(self._events), f"change {turn} of office {office}")

    def _ask(self, line: requests.Session, event: str, words: str) -> None:
        body: dict[str, Any] = {"description": words}
        address = f"{self._house.address}/api/events/{event}"
        at, begun = wall_clock(), time.perf_counter()
        try:
            answer = line.patch(address, json=body, headers=self._headers, timeout=PATIENCE_S)
        except requests.RequestException as problem:
            self.trouble.append(type(problem).__name__)
            return
        if answer.ok:
            self.answered.append(words)
            self.waited.append((at, (time.perf_counter() - begun) * 1_000))
        else:
            self.trouble.append(f"{answer.status_code} {answer.text[:200]}")

    def _burst(self) -> None:
        while not self._over.wait(BURST_EVERY_S):
            self._house.tell(BURST, BURST_EVENTS, FIRST_OF_BURSTS)
            self.told += BURST
