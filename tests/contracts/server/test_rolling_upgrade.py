"""Two releases side by side on one PostgreSQL: nobody notices that one takes over from the other."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from importlib.util import cache_from_source
from ipaddress import IPv6Address
from pathlib import Path

import psycopg
import pytest
import requests
from msgspec import structs

from scripts.private_services.nginx import NAME, Behind, NginxServer
from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port, responds
from shared.clock import wall_clock
from sync_server.customers import cookies
from sync_server.customers import service as customers
from sync_server.migrations import schema
from sync_server.plumbing.requests.principals import SYSTEM
from tests.app_server import AppServer
from tests.architecture.tree import ROOT, files
from tests.builders import HOUR
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.services.optional_services import start_or_fail

NEXT = "9001"
MIGRATION = '''"""{about}"""

import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{before}"
branch_labels = None
depends_on = None
{said}

def upgrade() -> None:
    {change}
'''
EXPANDS = 'op.add_column("venues", sa.Column("dress_code", sa.String(100), server_default="", nullable=False))'
DECLARED = '    dress_code: Mapped[str] = mapped_column(String(100), server_default="")\n'
ENOUGH = 60
"""Answers between two steps of the upgrade."""


@dataclass
class Release:
    """The program of one release, with the settings of this installation."""

    root: Path
    folder: Path
    url: str
    key: Path

    @property
    def settings(self) -> dict[str, str]:
        return {
            "GATEHOUSE_DATABASE_URL": self.url,
            "GATEHOUSE_MASTER_KEY_FILE": str(self.key),
            "GATEHOUSE_LOG_LEVEL": "warning",
            "GATEHOUSE_BASE_URL": f"https://{NAME}",
            "GATEHOUSE_TRUSTED_PROXIES": "1",
            "GATEHOUSE_METRICS_ADDRESS": f"{LOOPBACK}:{free_port()}",
        }

    def child(self, name: str, *arguments: str) -> Child:
        command = [sys.executable, "-m", "sync_server", *arguments]
        return Child(name, command, self.folder / f"{name}.log", self.settings, self.root, stop_timeout=30)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "sync_server", *arguments]
        return subprocess.run(
            command, cwd=self.root, env=self.settings, capture_output=True, text=True, check=False, timeout=120
        )


@dataclass
class Node:
    """A server and its worker."""

    release: Release
    name: str
    port: int = field(default_factory=free_port)
    streams: int = field(default_factory=free_port)

    def start(self) -> None:
        where = ["--port", str(self.port), "--processes", "1", "--streams", f"{LOOPBACK}:{self.streams}"]
        self.server = self.release.child(f"{self.name}-server", "serve", *where)
        self.worker = self.release.child(f"{self.name}-worker", "worker")
        self.server.start()
        self.worker.start()
        self.server.wait_until(lambda: responds(self.port, b"GET /readyz HTTP/1.0\r\n\r\n", b"HTTP/1.0 200"))

    def stop(self) -> None:
        self.server.stop()
        self.worker.stop()


def a_release(folder: Path, change: str, *, declared: str = "", said: str = "") -> Path:
    """A copy of this tree with one more migration."""
    for path in files():
        if path.parts[0] in {"shared", "sync_server"}:
            _copy(path, folder)
    text = MIGRATION.format(about="The next release.", revision=NEXT, before=schema.newest(), change=change, said=said)
    (folder / "sync_server" / "migrations" / "versions" / f"{NEXT}_next.py").write_text(text)
    models = folder / "sync_server" / "venues" / "models.py"
    head, table, rest = models.read_text().partition('__tablename__ = "venues"\n')
    models.write_text(f"{head}{table}\n{declared}{rest}")
    return folder


def _copy(path: Path, folder: Path) -> None:
    """Copy a file and what Python has compiled of it: else each release is compiled anew, which takes seconds."""
    compiled = [Path(cache_from_source(str(path)))] if path.suffix == ".py" else []
    for each in [path, *compiled]:
        if (ROOT / each).exists():
            (folder / each).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / each, folder / each)  # with its time, by which Python knows that both belong together


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


@pytest.fixture
def present(app_server: AppServer, tmp_path: Path) -> Release:
    return Release(ROOT, tmp_path, app_server.url, app_server.folder / "master.key")


@dataclass
class Traffic:
    """Guests, readers and organisers who go on asking; everything that goes wrong is a failure."""

    sale: SeatedEvent
    nginx: NginxServer
    stop: threading.Event = field(default_factory=threading.Event)
    answers: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.guests = iter(self._guests(200))
        asking = (self.hold, self.look, self.change, self.listen)
        self.threads = [threading.Thread(target=self._repeat, args=(ask,), daemon=True) for ask in asking]
        for thread in self.threads:
            thread.start()

    def _guests(self, count: int) -> list[dict[str, str]]:
        server, context = self.sale.app_server, self.sale.context()
        with server.database.writing() as session:
            contexts = (
                structs.replace(context, actor=structs.replace(SYSTEM, ip=str(IPv6Address(n << 64))))
                for n in range(count)
            )
            cards = [
                customers.create_guest(session, self.sale.organisation_id, each, lasts_ms=HOUR, allowed=1)
                for each in contexts
            ]
        name = f"gatehouse_guest_{self.sale.slug}"
        sealer = server.parts.sealer
        return [{"Cookie": f"{name}={cookies.encode(card, sealer)}", "X-CSRF-Token": card.csrf} for card in cards]

    def _repeat(self, ask: Callable[[requests.Session], None]) -> None:
        with requests.Session() as client:
            client.trust_env, client.verify = False, str(self.nginx.certificate)
            client.headers["Host"] = NAME
            while not self.stop.wait(0.02):
                try:
                    ask(client)
                    self.answers[ask.__name__] += 1
                except (requests.RequestException, AssertionError) as problem:
                    self.failures.append(f"{ask.__name__}: {problem}")

    def ask(
        self, client: requests.Session, method: str, path: str, body: object = None, **headers: str
    ) -> requests.Response:
        url = f"https://{LOOPBACK}:{self.nginx.port}{path}"
        # A connection of its own for each request: nginx closes idle ones when it reads its file again.
        response = client.request(method, url, json=body, headers=headers | {"Connection": "close"}, timeout=30)
        assert response.status_code < 300, f"{method} {path}: {response.status_code} {response.text[:300]}"
        return response

    def hold(self, client: requests.Session) -> None:
        if self.answers["hold"] % 9 == 0:  # as often as one guest may
            self.guest = next(self.guests)
        held = self.ask(client, "POST", self.sale.reserve_path("A-1"), {}, **self.guest).json()["data"]
        self.ask(client, "DELETE", f"/api/holds/{held['hold_id']}", **self.guest)

    def look(self, client: requests.Session) -> None:
        self.ask(client, "GET", f"/api/public/events/{self.sale.id}")
        self.ask(client, "GET", f"/api/public/events/{self.sale.id}/seatmap/state")

    def change(self, client: requests.Session) -> None:
        address = f"Hafenstraße {self.answers['change']}"
        self.ask(
            client, "PATCH", f"/api/venues/{self.sale.event['venue_id']}", {"address": address}, **self.sale.api.headers
        )
        assert self.ask(client, "GET", self.sale.path, **self.sale.api.headers).json()["id"] == self.sale.id

    def listen(self, client: requests.Session) -> None:
        """Read a stream until the server ends it, as a page does; then it is opened anew."""
        url = f"https://{LOOPBACK}:{self.nginx.port}/api/public/events/{self.sale.id}/live"
        with client.get(url, stream=True, timeout=30) as response:
            assert response.status_code == 200, response.text[:300]
            for _ in response.iter_lines():
                if self.stop.is_set():
                    return

    def go_on(self) -> None:
        """Wait until everybody has got some more answers."""
        before = self.answers["hold"], self.answers["look"], self.answers["change"]
        enough = threading.Event()
        while not enough.wait(0.05) and not self.failures:
            now = self.answers["hold"], self.answers["look"], self.answers["change"]
            if all(each - earlier >= ENOUGH // 3 for each, earlier in zip(now, before, strict=True)):
                enough.set()

    def end(self) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join(timeout=40)


class Site:
    """nginx with the shipped file, and several nodes in both of its upstreams."""

    def __init__(self, *nodes: Node) -> None:
        self.nginx = NginxServer(Behind(nodes[0].port, nodes[0].streams))
        self.file = self.nginx.folder / "gatehouse.conf"
        self.shipped, self.first = self.file.read_text(), nodes[0]
        self.send_to(*nodes)
        self.nginx.start()

    def send_to(self, *nodes: Node) -> None:
        text = self.shipped
        for kind in ("port", "streams"):
            listed = "".join(f"\n    server {LOOPBACK}:{getattr(node, kind)};" for node in nodes)
            text = text.replace(f"    server {LOOPBACK}:{getattr(self.first, kind)};", listed)
        self.file.write_text(text)


def test_a_release_takes_over_from_the_one_before_and_nobody_notices(
    sale: SeatedEvent, present: Release, tmp_path: Path
) -> None:
    new = replace(present, root=a_release(tmp_path / "next", EXPANDS, declared=DECLARED))
    old_node, new_node = Node(present, "old"), Node(new, "new")
    old_node.start()
    site = start_or_fail("nginx", lambda: Site(old_node, new_node))
    traffic = Traffic(sale, site.nginx)
    try:
        traffic.go_on()
        migrated = new.run("migrate")
        assert migrated.returncode == 0, migrated.stderr
        traffic.go_on()
        new_node.start()
        traffic.go_on()
        old_node.worker.stop()
        old_node.worker.start()  # one of the old release starts beside the newer schema
        traffic.go_on()
        site.send_to(new_node)
        site.nginx.reload()
        traffic.go_on()
        old_node.stop()
        traffic.go_on()
    finally:
        traffic.end()
        new_node.stop()
        old_node.stop()
        site.nginx.remove()
    assert traffic.failures == []
    assert "Traceback" not in "".join(log.read_text() for log in tmp_path.glob("*.log"))
    with psycopg.connect(present.url) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (NEXT,)


def test_a_server_of_the_old_release_starts_beside_the_newer_schema(
    sale: SeatedEvent, present: Release, tmp_path: Path
) -> None:
    new = replace(present, root=a_release(tmp_path / "next", EXPANDS, declared=DECLARED))
    assert new.run("migrate").returncode == 0
    old = Node(present, "old")
    old.start()
    old.stop()
    assert present.run("doctor").returncode in {0, 1}
    assert present.run("migrate").returncode == 0, "it has nothing to do, and says so"


def test_what_the_old_release_still_uses_is_not_removed_while_it_may_run(
    sale: SeatedEvent, present: Release, tmp_path: Path
) -> None:
    new = replace(present, root=a_release(tmp_path / "next", 'op.drop_column("venues", "address")'))
    refused = new.run("migrate")
    assert (refused.returncode, "column venues.address is gone" in refused.stderr) == (1, True), refused.stderr
    assert sale.api.get(f"/api/venues/{sale.event['venue_id']}")["address"]
    assert present.run("migrate").returncode == 0, "nothing was changed"


def test_a_contracting_release_shuts_out_the_one_before(sale: SeatedEvent, present: Release, tmp_path: Path) -> None:
    meaning = 'contracts = "addresses have another meaning"\n\n\n'
    new = replace(present, root=a_release(tmp_path / "next", "pass", said=meaning))
    refused = new.run("migrate")
    assert (refused.returncode, "another meaning" in refused.stderr) == (1, True), refused.stderr
    assert new.run("migrate", "--contracting").returncode == 0
    beside = present.run("worker")
    assert (beside.returncode, "does not know" in beside.stderr) == (1, True), beside.stderr


def test_a_request_in_flight_is_answered_by_a_server_that_stops(
    sale: SeatedEvent, present: Release, tmp_path: Path
) -> None:
    node = Node(present, "old")
    node.start()
    path, answered = f"http://{LOOPBACK}:{node.port}/api/venues/{sale.event['venue_id']}", list[int]()

    def change() -> None:
        answered.append(
            requests.patch(path, json={"address": "Kai 1"}, headers=sale.api.headers, timeout=30).status_code
        )

    with psycopg.connect(present.url) as blocking:
        blocking.execute("SELECT 1 FROM venues FOR NO KEY UPDATE")  # what refers to the venue goes on
        client = threading.Thread(target=change)
        client.start()
        node.server.wait_until(lambda: waits_for(blocking))
        stopping = threading.Thread(target=node.server.stop)
        stopping.start()
        node.server.wait_until(lambda: not responds(node.port, b"GET /healthz HTTP/1.0\r\n\r\n", b"HTTP/1.0 200"))
        blocking.rollback()
    client.join()
    stopping.join()
    node.worker.stop()
    assert answered == [200]


def waits_for(blocking: psycopg.Connection) -> bool:
    """Whether a transaction waits for this one: a node that only starts waits for other locks, too."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))"
    row = blocking.execute(query, [blocking.info.backend_pid]).fetchone()
    return row is not None and row[0] > 0
