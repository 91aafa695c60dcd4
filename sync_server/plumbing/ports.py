"""Ports: what a package reaches by its session: answers of higher packages, and what it keeps for its process."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from sqlalchemy.orm import Session

PackagePorts = TypeVar("PackagePorts")


class Ports:
    """The ports of each package of one server, by their type."""

    def __init__(self) -> None:
        self._connected: dict[type[Any], object] = {}

    def connect(self, ports: object) -> None:
        """Set the one object of this type: a dataclass whose fields are functions, or a cache."""
        self._connected[type(ports)] = ports

    def of(self, kind: type[PackagePorts]) -> PackagePorts:
        """The ports of this kind."""
        return cast(PackagePorts, self._connected[kind])


def ports_of(session: Session, kind: type[PackagePorts]) -> PackagePorts:
    """The ports of this kind, of the server that a session belongs to."""
    ports: Ports = session.info["ports"]
    return ports.of(kind)
