"""Notices requests through a proxy that the setting `trusted_proxies` does not count, and tells the operator once."""

from __future__ import annotations

import ipaddress
import threading
from typing import Final

from flask import Request
from sqlalchemy import BigInteger, delete, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.clock import Millis
from sync_server.plumbing.parts import Parts, parts
from sync_server.plumbing.sql import writes
from sync_server.plumbing.sql.tables import Base
from sync_server.plumbing.telemetry.logs import LOG

KEEP_MS: Final = 7 * 24 * 3_600_000
_NOTICED: Final = "proxies noticed"


class ProxySightingRow(Base):
    """That requests came through a proxy which is not counted, under this setting."""

    __tablename__ = "proxy_sightings"

    trusted_proxies: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[Millis] = mapped_column(BigInteger)


def look(request: Request) -> None:
    """Compare who is taken for the client with whom the proxies name; the first mismatch of a process is noted."""
    forwarded = request.environ.get("HTTP_X_FORWARDED_FOR")
    if forwarded is None:
        return
    here = parts()
    noticed: threading.Event = here.local_state.setdefault(_NOTICED, threading.Event())
    if noticed.is_set():
        return
    # Anybody can send the header, but only a proxy of ours connects from this machine or its network. If one is taken
    # for the client although it forwards for somebody from elsewhere, it is not counted.
    if _is_near(request.remote_addr or "") and not all(map(_is_near, forwarded.split(","))):
        noticed.set()
        _note(here)


def _is_near(address: str) -> bool:
    try:
        return ipaddress.ip_address(address.strip()).is_private
    except ValueError:
        return False


def _note(here: Parts) -> None:
    count = here.config.trusted_proxies
    LOG.warning("proxy_not_counted", trusted_proxies=count, consequence="all visitors share one address and its limits")
    now = here.clock()
    row = {"trusted_proxies": count, "at": now}
    with here.database.writing() as session:
        session.execute(delete(ProxySightingRow).where(ProxySightingRow.at < now - KEEP_MS))
        insert = writes.insert(session, ProxySightingRow).values(row)
        session.execute(insert.on_conflict_do_update(index_elements=["trusted_proxies"], set_={"at": now}))


def was_noticed(session: Session, trusted_proxies: int, since: Millis) -> bool:
    """Whether a server process has noticed such a proxy since then, under this setting."""
    row = ProxySightingRow
    return session.scalar(select(row.at).where(row.trusted_proxies == trusted_proxies, row.at > since)) is not None
