"""What a gate tells the server of its machine: now and then, and at once when something breaks or works again."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path
from typing import Final

from gate_app.status import disk_status
from hardware.machine import MachineState
from shared.wire.protocol import Health

EVERY_MS: Final = 60_000
MOST: Final = 8
_LONGEST: Final = 200


class HealthTeller:
    """Looks at the machine at most once a minute, and whenever its faults are others."""

    def __init__(
        self, folder: Path, least_free_mb: int, look: Callable[[], MachineState], monotonic_ms: Callable[[], int]
    ) -> None:
        self._folder, self._least_free_mb = folder, least_free_mb
        self._look, self._monotonic_ms = look, monotonic_ms
        self._told: tuple[int, tuple[str, ...]] | None = None
        self.readers: Callable[[], tuple[str, ...]] = tuple
        """The readers that are open, by kind and name."""
        self.faults: Callable[[], tuple[str, ...]] = tuple
        """What does not work just now, in words."""
        self.printer: Callable[[], str] = str
        """The printer by its kind, and how it is in a word; empty without one."""

    def now(self) -> Health:
        """How the machine is."""
        state, disk = self._look(), disk_status(self._folder, self._least_free_mb)
        faults = tuple(fault[:_LONGEST] for fault in self.faults()[:MOST])
        self._told = self._monotonic_ms(), faults
        return Health(
            celsius=None if state.celsius is None else round(state.celsius, 1),
            under_voltage=state.under_voltage,
            throttled=state.throttled,
            battery_percent=state.battery_percent,
            on_battery=state.on_battery,
            disk_free_mb=disk["free_mb"],
            disk_low=disk["low"],
            readers=[reader[:_LONGEST] for reader in self.readers()[:MOST]],
            faults=list(faults),
            printer=self.printer()[:_LONGEST],
            system=platform.platform(terse=True)[:_LONGEST],
        )

    def news(self) -> Health | None:
        """How it is, if that is worth a message; None if it was told lately and nothing broke since."""
        if self._told is not None:
            at, faults = self._told
            same = faults == tuple(fault[:_LONGEST] for fault in self.faults()[:MOST])
            if same and self._monotonic_ms() - at < EVERY_MS:
                return None
        return self.now()
