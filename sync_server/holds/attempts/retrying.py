"""Tries to hold until it succeeds or is refused: again where the sale state has changed or somebody was quicker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from sync_server.holds import rules
from sync_server.holds.attempts.runtime import HoldRuntime
from sync_server.holds.caches.sale_state import SaleState

T = TypeVar("T")

MAX_ATTEMPTS: Final = 20


class StaleSaleState(Exception):
    """The event has changed since its sale state was loaded; nothing was done."""


class Lost(Exception):
    """Someone else was quicker, and the seat may be free again; nothing was done."""


def repeatedly(runtime: HoldRuntime, sale_state: SaleState, attempt: Callable[[SaleState, int], T | None]) -> T:
    """The first result of `attempt`, which is repeated at once while it has none; a refusal is raised.

    `attempt` is told how often it was lost to others.
    """
    lost = 0
    for _ in range(MAX_ATTEMPTS):
        try:
            if (result := attempt(sale_state, lost)) is not None:
                return result
        except StaleSaleState:
            sale_state = runtime.sale_states.current(sale_state.organisation_id, sale_state.id)
        except Lost:
            if lost == rules.TRIES:
                break
            runtime.wait(rules.pause_ms(lost))
            lost += 1
    raise rules.no_longer_available()
