"""The result of checking one part of a gate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from gate_app.gate_context import HostEnvironment
from gate_app.installation.config import Config
from gate_app.installation.home import Home
from hardware.machine import MachineState, machine_state


class Code(StrEnum):
    """The names of all faults, for programs."""

    HOME_UNREADABLE = "home_unreadable"
    SETTINGS = "settings"
    NOT_ENROLLED = "not_enrolled"
    REVOKED = "revoked"
    NOT_USED = "not_used"
    NOT_READY = "not_ready"
    NO_GATE = "no_gate"
    NO_TICKETS = "no_tickets"
    TICKETS_DAMAGED = "tickets_damaged"
    TICKETS_OLD = "tickets_old"
    CAMERA_LIBRARIES = "camera_libraries"
    CAMERA_MISSING = "camera_missing"
    CAMERA_NO_PERMISSION = "camera_no_permission"
    CAMERA_BUSY = "camera_busy"
    CAMERA_DARK = "camera_dark"
    SCANNER_MISSING = "scanner_missing"
    SCANNER_NO_PERMISSION = "scanner_no_permission"
    SCANNER_BUSY = "scanner_busy"
    SCANNER_FAILS = "scanner_fails"
    SOUND_FAILS = "sound_fails"
    GPIO_FAILS = "gpio_fails"
    PRINTER_NO_PAPER = "printer_no_paper"
    PRINTER_OPEN = "printer_open"
    PRINTER_PAUSED = "printer_paused"
    PRINTER_NO_ANSWER = "printer_no_answer"
    PRINTER_UNPLUGGED = "printer_unplugged"
    PRINTER_NO_PERMISSION = "printer_no_permission"
    PRINTER_NO_QUEUE = "printer_no_queue"
    PRINTER_SETTINGS = "printer_settings"
    PRINTER_LIBRARIES = "printer_libraries"
    PRINTER_FAILS = "printer_fails"
    CLOCK_NEVER_SET = "clock_never_set"
    CLOCK_BY_HAND = "clock_by_hand"
    CLOCK_WRONG = "clock_wrong"
    NO_HOME = "no_home"
    DISK_FULL = "disk_full"
    DISK_READ_ONLY = "disk_read_only"
    DISK_LOW = "disk_low"
    DISK_SLOW = "disk_slow"
    UNDER_VOLTAGE = "under_voltage"
    ON_BATTERY = "on_battery"
    OVERHEATED = "overheated"
    PORT_TAKEN = "port_taken"
    SCREEN_ADDRESS = "screen_address"
    SCREEN_NOT_REACHABLE = "screen_not_reachable"
    JOURNAL_DAMAGED = "journal_damaged"
    TWO_GATES = "two_gates"
    UNSENT_OLD = "unsent_old"
    STRANDED = "stranded"
    NETWORK_DOWN = "network_down"
    DNS = "dns"
    CAPTIVE_PORTAL = "captive_portal"
    TLS = "tls"
    REFUSED = "refused"
    SERVER_TROUBLE = "server_trouble"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of checking one part: whether it works, and what to do if not; `code` names the fault."""

    part: str
    ok: bool
    message: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class Examined:
    """What is examined: a home with its settings, and the machine it is on."""

    home: Home
    config: Config
    host: HostEnvironment
    look: Callable[[], MachineState] = machine_state


def well(part: str, message: str) -> Finding:
    """The part works."""
    return Finding(part, True, message)


def fault(part: str, code: Code, message: str) -> Finding:
    """The part does not work."""
    return Finding(part, False, message, code)
