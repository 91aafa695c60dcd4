"""Checks everything a gate depends on, and says what to do about problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gate_app.doctor.devices import check_camera, check_gpio, check_scanner, check_sound
from gate_app.doctor.exchange import check_enrolment, check_journal, check_ready, check_tickets, check_unsent
from gate_app.doctor.finding import Code, Examined, Finding, fault
from gate_app.doctor.machine import check_clock, check_disk, check_power, check_screen, check_temperature
from gate_app.doctor.network import check_network
from gate_app.doctor.printer import check_printer
from gate_app.gate_context import HostEnvironment
from gate_app.installation.config import config_or_defaults
from gate_app.installation.home import Home
from hardware.machine import MachineState, machine_state
from hardware.ports import DeviceError
from shared.errors import GatehouseError, StorageError

Check = Callable[[Examined], Finding]

CHECKS: dict[str, Check] = {
    "enrolment": check_enrolment,
    "ready": check_ready,
    "tickets": check_tickets,
    "camera": check_camera,
    "scanner": check_scanner,
    "sound": check_sound,
    "gpio": check_gpio,
    "printer": check_printer,
    "clock": check_clock,
    "disk": check_disk,
    "power": check_power,
    "temperature": check_temperature,
    "screen": check_screen,
    "journal": check_journal,
    "unsent": check_unsent,
    "network": check_network,
}


def findings(home: Home, host: HostEnvironment, look: Callable[[], MachineState] = machine_state) -> Iterator[Finding]:
    """One finding per part. A part that cannot be checked is a finding too."""
    try:
        home.require_readable()
    except StorageError as why:
        yield fault("home", Code.HOME_UNREADABLE, why.message)
        return
    config, mistakes = config_or_defaults(home.settings)
    if mistakes:
        yield fault("settings", Code.SETTINGS, mistakes)
    examined = Examined(home, config, host, look)
    for part, check in CHECKS.items():
        try:
            yield check(examined)
        except (GatehouseError, DeviceError) as why:
            yield fault(part, Code.UNKNOWN, str(why))
