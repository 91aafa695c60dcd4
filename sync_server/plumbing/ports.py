"""Ports: the questions that a package asks of higher ones, answered as `app.py` has connected them."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from sqlalchemy.orm import Session

PackagePorts = TypeVar("PackagePorts")


class Ports:
    """The ports of each package of one server, by their type."""

    def __init__(self) -> None:
        self._connected: dict[type[Any], object] = {}

    def connect(self, ports: object) -> None:
        """Set the ports of a package: a dataclass whose fields are functions."""
        self._connected[type(ports)] = ports

    def of(self, kind: type[PackagePorts]) -> PackagePorts:
        """The ports of this kind."""
        return cast(PackagePorts, self._connected[kind])


def ports_of(session: Session, kind: type[PackagePorts]) -> PackagePorts:
    """The ports of this kind, of the server that a session belongs to."""
    ports: Ports = session.info["ports"]
    return ports.of(kind)
