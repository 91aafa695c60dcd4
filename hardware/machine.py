"""How this machine is: its temperature, whether its power is too weak, and its battery, where the system tells."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ANSWER_S: Final = 2.0
_UNDER_VOLTAGE_NOW: Final = 0x1
_THROTTLED_NOW: Final = 0x4
Throttled = Callable[[], str]
"""What `vcgencmd get_throttled` says; empty where there is no such program."""


@dataclass(frozen=True, slots=True)
class MachineState:
    """What a machine tells of itself; None: it cannot tell."""

    celsius: float | None = None  # of its hottest part
    under_voltage: bool | None = None
    throttled: bool | None = None
    battery_percent: int | None = None
    on_battery: bool | None = None


def get_throttled() -> str:
    """Asks the firmware of a Raspberry Pi."""
    program = shutil.which("vcgencmd")
    if program is None:
        return ""
    try:
        done = subprocess.run([program, "get_throttled"], capture_output=True, timeout=_ANSWER_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace")


def machine_state(root: Path = Path("/"), throttled: Throttled = get_throttled) -> MachineState:
    """The state now. Never fails: what cannot be read is not told."""
    flags = re.search(r"throttled=0x([0-9a-fA-F]{1,8})", throttled())
    bits = int(flags[1], 16) if flags else None
    weak = None if bits is None else bool(bits & _UNDER_VOLTAGE_NOW)
    battery, on_battery = _battery(root / "sys/class/power_supply")
    return MachineState(
        celsius=max(_temperatures(root / "sys/class/thermal"), default=None),
        under_voltage=_alarm(root / "sys/class/hwmon") if weak is None else weak,
        throttled=None if bits is None else bool(bits & _THROTTLED_NOW),
        battery_percent=battery,
        on_battery=on_battery,
    )


def _temperatures(zones: Path) -> Iterator[float]:
    for zone in sorted(zones.glob("thermal_zone*/temp")):
        thousandths = _number(zone)
        if thousandths is not None and -40_000 < thousandths < 150_000:  # broken sensors tell anything
            yield thousandths / 1_000


def _alarm(monitors: Path) -> bool | None:
    """The kernel's own word about a Raspberry Pi's power, where the firmware's program is missing."""
    for monitor in sorted(monitors.glob("hwmon*")):
        if _text(monitor / "name") == "rpi_volt":
            alarm = _number(monitor / "in0_lcrit_alarm")
            return None if alarm is None else bool(alarm)
    return None


def _battery(supplies: Path) -> tuple[int | None, bool | None]:
    for supply in sorted(supplies.glob("*")):
        if _text(supply / "type") == "Battery" and _text(supply / "scope") != "Device":
            percent, status = _number(supply / "capacity"), _text(supply / "status")
            known = percent is not None and 0 <= percent <= 100
            return percent if known else None, status == "Discharging" if status else None
    return None, None


def _number(path: Path) -> int | None:
    try:
        return int(_text(path))
    except ValueError:
        return None


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
