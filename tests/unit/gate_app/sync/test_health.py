"""How often a gate tells of its machine."""

from __future__ import annotations

from pathlib import Path

from gate_app.sync.health import EVERY_MS, HealthTeller
from hardware.machine import MachineState


class Watch:
    """A clock that is set by hand."""

    now = 0

    def __call__(self) -> int:
        return self.now


def a_teller(folder: Path, watch: Watch) -> HealthTeller:
    return HealthTeller(folder, 10**9, lambda: MachineState(celsius=48.333, battery_percent=63), watch)


def test_it_tells_what_it_knows_and_that_the_disk_is_low(tmp_path: Path) -> None:
    said = a_teller(tmp_path, Watch()).now()
    assert (said.celsius, said.battery_percent, said.under_voltage, said.disk_low) == (48.3, 63, None, True)


def test_once_a_minute_and_at_once_when_a_fault_comes_or_goes(tmp_path: Path) -> None:
    watch, faults = Watch(), list[str]()
    teller = a_teller(tmp_path, watch)
    teller.faults = lambda: tuple(faults)
    told = []
    for at, fault in ((0, False), (1, False), (2, True), (3, True), (4, False), (4 + EVERY_MS, False)):
        watch.now, faults[:] = at, ["camera: It was unplugged."] if fault else []
        news = teller.news()
        told.append(None if news is None else news.faults)
    assert told == [[], None, ["camera: It was unplugged."], None, [], []]
