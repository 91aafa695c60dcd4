"""Signals: what a package tells higher ones inside the transaction of a change; their handlers are found by type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy.orm import Session


class Signal:
    """Something that has just happened in this transaction; each kind is a frozen dataclass."""

    __slots__ = ()


SignalKind = TypeVar("SignalKind", bound=Signal)


class Signals:
    """The handlers of one server; those of a signal run in the order of the wirings in `app.py`."""

    def __init__(self) -> None:
        self._handlers: dict[type[Signal], list[Callable[[Session, Any], None]]] = {}

    def on(self, kind: type[SignalKind], handler: Callable[[Session, SignalKind], None]) -> None:
        """Run a handler inside each transaction that sends a signal of this kind."""
        self._handlers.setdefault(kind, []).append(handler)

    def send(self, session: Session, signal: Signal) -> None:
        """Run the handlers; one that raises stops the change."""
        for handler in self._handlers.get(type(signal), ()):
            handler(session, signal)


def send(session: Session, signal: Signal) -> None:
    """Run the handlers of a signal inside this transaction."""
    signals: Signals = session.info["signals"]
    signals.send(session, signal)
