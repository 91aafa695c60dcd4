"""Servers and workers that are told to stop: balancers hear of it first, and nobody's request fails."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import requests

from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port, responds
from shared.clock import wall_clock
from sync_server.plumbing.jobs import HeavyJob
from sync_server.plumbing.telemetry import logs
from sync_server.workers import Worker
from tests.app_server import AppServer
from tests.architecture.tree import ROOT
from tests.builders import HOUR
from tests.contracts.facts.memory import eventually
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.seating.test_imports import House, a_file
from tests.contracts.server.test_rolling_upgrade import Node, Release, Site, Traffic
from tests.contracts.server.test_serving import children_of
from tests.services.optional_services import start_or_fail

READY = b"GET /readyz HTTP/1.0\r\n\r\n", b"HTTP/1.0 200"
STOPPING = b"GET /readyz HTTP/1.0\r\n\r\n", b"HTTP/1.0 503"


class Doze(threading.Event):
    """An event that tells when somebody waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.begun.set()
        return super().wait(timeout)


@pytest.fixture
def app_server(postgres_url: str, tmp_path: Path) -> Iterator[AppServer]:
    made = AppServer(postgres_url, tmp_path)
    made.now = wall_clock()
    yield made
    made.close()


@pytest.fixture
def sale(app_server: AppServer) -> SeatedEvent:
    start = wall_clock() + 48 * HOUR
    return a_seated_event(app_server, start_at=start, end_at=start + 6 * HOUR)


class DrainedRelease(Release):
    """With time for balancers to notice."""

    @property
    def settings(self) -> dict[str, str]:
        return super().settings | {"GATEHOUSE_DRAIN_SECONDS": "4"}


@dataclass
class Balancer:
    """Sends requests to the nodes that say that they are ready, as any balancer does that asks them."""

    site: Site
    nodes: list[Node]
    stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.taken_out = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def _watch(self) -> None:
        used = self.nodes
        while not self.stop.wait(0.1):
            ready = [node for node in self.nodes if responds(node.port, *READY)]
            if ready and ready != used:
                self.site.send_to(*ready)
                self.site.nginx.reload()
                used = ready
                self.taken_out.set()

    def end(self) -> None:
        self.stop.set()
        self.thread.join()


def terminate(child: Child) -> int:
    """Tell the program itself to stop, as systemd and container engines do, and wait; its exit status."""
    os.kill(child.pid, signal.SIGTERM)
    eventually(lambda: not child.running, "it ends")
    return child.stop()


def test_a_server_leaves_under_traffic_and_no_request_fails(
    sale: SeatedEvent, app_server: AppServer, tmp_path: Path
) -> None:
    release = DrainedRelease(ROOT, tmp_path, app_server.url, app_server.folder / "master.key")
    leaving, staying = Node(release, "leaving"), Node(release, "staying")
    leaving.start()
    staying.start()
    site = start_or_fail("nginx", lambda: Site(leaving, staying))
    traffic, balancer = Traffic(sale, site.nginx), Balancer(site, [leaving, staying])
    try:
        traffic.go_on()
        os.kill(leaving.server.pid, signal.SIGTERM)
        eventually(lambda: responds(leaving.port, *STOPPING), "it says that it is not ready")
        answer = requests.get(f"http://{LOOPBACK}:{leaving.port}/healthz", timeout=30)
        assert (answer.status_code, answer.headers["Connection"]) == (200, "close"), "and answers all the same"
        assert balancer.taken_out.wait(30)
        traffic.go_on()
        eventually(lambda: not leaving.server.running, "it ends")
        statuses = leaving.server.stop(), terminate(leaving.worker)
        traffic.go_on()
    finally:
        balancer.end()
        traffic.end()
        leaving.stop()
        staying.stop()
        site.nginx.remove()
    assert traffic.failures == []
    assert statuses == (0, 0)
    assert "Traceback" not in "".join(log.read_text() for log in tmp_path.glob("*.log"))


def tell_another_thread(pid: int) -> None:
    """As the kernel does with a process whose main thread is at another signal; only the main thread calls handlers."""
    threads = {int(thread.name) for thread in Path(f"/proc/{pid}/task").iterdir()} - {pid}
    assert ctypes.CDLL(None).tgkill(pid, min(threads), signal.SIGTERM) == 0


@pytest.mark.parametrize("told", ["the server twice", "all processes at once", "another thread"])
def test_whoever_is_in_a_hurry_does_not_wait(told: str, tmp_path: Path) -> None:
    port = free_port()
    environment = {
        "GATEHOUSE_DATABASE_URL": f"sqlite:///{tmp_path}/gatehouse.db",
        "GATEHOUSE_MASTER_KEY_FILE": str(tmp_path / "master.key"),
        "GATEHOUSE_LOG_LEVEL": "warning",
        "GATEHOUSE_DRAIN_SECONDS": "300",
    }
    command = [sys.executable, "-m", "sync_server", "serve", "--port", str(port)]
    server = Child("the server", command, tmp_path / "log", environment, ROOT, stop_timeout=60)
    server.start()
    try:
        server.wait_until(lambda: responds(port, *READY))
        if told != "all processes at once":
            os.kill(server.pid, signal.SIGTERM)
            eventually(lambda: responds(port, *STOPPING), "it says that it is not ready")
        if told == "the server twice":
            assert terminate(server) == 0
        if told == "another thread":
            tell_another_thread(min(children_of(server.pid)))
            eventually(lambda: not server.running, "it ends")
    finally:
        assert server.stop() == 0
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_a_worker_hands_its_import_back(sale: SeatedEvent, app_server: AppServer, tmp_path: Path) -> None:
    house = House(sale)
    where = house.begin(a_file(30_000))
    release = Release(ROOT, tmp_path, app_server.url, app_server.folder / "master.key")
    worker = release.child("worker", "worker")
    worker.start()
    try:
        worker.wait_until(lambda: house.api.get(where)["written"] > 0)
        assert terminate(worker) == 0
    finally:
        worker.stop()
    handed_back = house.api.get(where)
    assert handed_back["written"] < 30_000
    app_server.now = wall_clock()
    app_server.run_worker()
    assert (house.api.get(where)["state"], house.api.get(where)["written"]) == ("done", 30_001), "at once"


def test_an_idle_worker_leaves_nothing_and_stops_at_once(
    app_server: AppServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing to deliver, nothing due: its threads sleep for up to ten seconds, and the stop wakes all of them."""
    logs.set_up("warning")
    asleep = app_server.parts.database.work_pending = Doze()
    stop = threading.Event()
    working = threading.Thread(target=Worker(app_server.parts).run, args=(stop, 5.0))
    working.start()
    assert asleep.begun.wait(30)
    stop.set()
    working.join(60)
    assert "worker_left_work" not in capsys.readouterr().err


def test_work_that_takes_too_long_is_left(app_server: AppServer) -> None:
    begun, stop, never = threading.Event(), threading.Event(), threading.Event()

    def dawdle(_database: object, _context: object) -> None:
        begun.set()
        never.wait(60)

    app_server.parts.jobs.append(HeavyJob("dawdling", 1_000, dawdle))
    working = threading.Thread(target=Worker(app_server.parts).run, args=(stop, 0.2))
    working.start()
    assert begun.wait(30)
    stop.set()
    working.join(30)
    left = working.is_alive()
    never.set()
    assert not left
