"""Processes over one PostgreSQL, without Redis, hear of each other's commits at once, not by looking."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sync_server.commands.doctor import examine
from sync_server.outbox.service import Fact, record
from sync_server.plumbing.caching.cache import organisation_key
from sync_server.plumbing.messaging.bus import event_topic
from sync_server.plumbing.messaging.shared_bus import SharedBus
from sync_server.workers import Worker
from tests.app_server import AppServer
from tests.builders import an_id
from tests.contracts.facts.deaf_pooler import deaf_pooler
from tests.contracts.facts.memory import LONG, Source, eventually

ORG, EVENT = an_id("org"), an_id("event")


@contextmanager
def processes(url: str, folder: Path) -> Iterator[list[AppServer]]:
    """Two server processes that are connected to each other."""
    made = [AppServer(url, folder), AppServer(url, folder, fresh=False)]
    for each in made:
        bus = each.parts.bus
        assert isinstance(bus, SharedBus)
        threading.Thread(target=bus.serve, args=(each.parts.stop,), daemon=True).start()
        assert bus.joined.wait(30)
    yield made
    for each in made:
        each.close()


def test_a_commit_of_one_process_wakes_the_worker_of_another(postgres_url: str, tmp_path: Path) -> None:
    with processes(postgres_url, tmp_path) as (writer, worker), writer.parts.bus.listen([event_topic(EVENT)]) as page:
        worker.parts.database.work_pending.clear()
        with writer.database.writing() as session:
            record(session, Fact("event_updated", ORG, writer.now, {"event": EVENT}))
        eventually(worker.parts.database.work_pending.is_set, "the worker is woken")
        Worker(worker.parts).run_once()
        eventually(lambda: page.wait(0), "a page that the first process serves hears of it")


def test_what_one_process_invalidates_is_dropped_by_the_other(postgres_url: str, tmp_path: Path) -> None:
    with processes(postgres_url, tmp_path) as (here, there):
        key, source = organisation_key(ORG, "event", EVENT), Source()
        assert there.parts.cache.fetch(key, LONG, source) == b"first"
        source.value = b"second"
        here.parts.cache.invalidate(key)
        eventually(lambda: there.parts.cache.fetch(key, LONG, source) == b"second", "the other process loads it anew")


def test_the_doctor_finds_a_pooler_that_keeps_notifications(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    AppServer(postgres_url, tmp_path).close()
    monkeypatch.setenv("GATEHOUSE_MASTER_KEY_FILE", str(tmp_path / "master.key"))
    with deaf_pooler(postgres_url) as pooled:
        monkeypatch.setenv("GATEHOUSE_DATABASE_URL", pooled)
        assert "GATEHOUSE_LISTEN_DATABASE_URL" in problems()["bus"]
        monkeypatch.setenv("GATEHOUSE_LISTEN_DATABASE_URL", postgres_url)
        assert problems()["bus"] is None


def problems() -> dict[str, Any]:
    return {finding["part"]: finding["problem"] for finding in examine()}
