"""The OSDP line: one for all that hangs on a device, however many drivers use it."""

import os
import termios
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hardware.osdp.options import OsdpOptions
from hardware.ports import DeviceError
from hardware.serial_settings import SPEEDS, set_up

if TYPE_CHECKING:
    from osdp import ControlPanel

NAME: Final = "osdp"
ONLINE_S: Final = 5.0
"""Within which a device answers and proves that it has the key."""
PAUSE_S: Final = 0.05
INSTALL: Final = "Install it: pip install -r requirements/osdp.txt in a checkout of Gatehouse."
CHECK: Final = "Check its cable, power, address, speed and key; it goes on by itself."

Command = dict[str, int | bool]


class OsdpBus:
    """A control panel with one device. Commands return at once; one that failed is told at the next."""

    def __init__(self, options: OsdpOptions) -> None:
        self.options = options
        self.users = 0
        self._panel: ControlPanel | None = None
        self._descriptor = -1
        self._failed = threading.Event()

    def open(self) -> "OsdpBus":
        """Opens the line and waits until the device answers. Raises DeviceError."""
        try:
            import osdp
        except ImportError as why:
            raise DeviceError(NAME, f"The library libosdp is missing ({why}).", INSTALL) from why
        options = self.options
        self._descriptor = _open_line(Path(options.at), options.baud)
        flags = [osdp.LibFlag.EnforceSecure] if options.key else []
        line = _line(osdp.Channel, self._descriptor)
        device = osdp.PDInfo(options.address, line, scbk=options.key or None, flags=flags)
        self._panel = osdp.ControlPanel([device], log_level=osdp.LogLevel.Critical)
        self._panel.set_command_completion_handler(self._completed)
        self._panel.start()
        if not self._comes_online():
            self.close()
            raise DeviceError(NAME, f"No device answers at address {options.address} of {options.at}.", CHECK)
        return self

    def send(self, command: Command) -> None:
        """Gives a command to the device. Raises DeviceError if it is away, or did not do the last one."""
        panel = self._panel
        if panel is None:
            raise DeviceError(NAME, "The line is closed.", "Start the gate again.")
        failed = self._failed.is_set()
        self._failed.clear()
        taken = self._is_online(panel) and panel.submit_command(self.options.address, command)
        if failed or not taken:
            raise DeviceError(NAME, f"The device at address {self.options.address} does not do what it is told.", CHECK)

    def close(self) -> None:
        """Safe to call twice."""
        panel, self._panel = self._panel, None
        if panel is not None:
            panel.teardown()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _completed(self, _address: int, _command: Command, status: int) -> None:
        from osdp import CompletionStatus

        if status != CompletionStatus.Ok:
            self._failed.set()

    def _comes_online(self) -> bool:
        pause = threading.Event()
        for _ in range(int(ONLINE_S / PAUSE_S)):
            if self._panel is not None and self._is_online(self._panel):
                return True
            pause.wait(PAUSE_S)
        return False

    def _is_online(self, panel: "ControlPanel") -> bool:
        address = self.options.address
        return bool(panel.is_sc_active(address) if self.options.key else panel.is_online(address))


_SHARED: Final[dict[OsdpOptions, OsdpBus]] = {}
_LOCK: Final = threading.Lock()


def take(options: OsdpOptions) -> OsdpBus:
    """The open line to this device; whoever takes it gives it back. Raises DeviceError."""
    with _LOCK:
        bus = _SHARED.get(options) or OsdpBus(options).open()
        _SHARED[options] = bus
        bus.users += 1
        return bus


def give_back(bus: OsdpBus) -> None:
    """Closes the line when nobody uses it any more."""
    with _LOCK:
        bus.users -= 1
        if bus.users == 0:
            _SHARED.pop(bus.options, None)
            bus.close()


def _line(channel: Any, descriptor: int) -> Any:
    """The line as the library wants it: reads and writes at once, or not at all."""

    class Line(channel):  # type: ignore[misc]  # a class of the library, known only here
        def read(self, most: int) -> bytes:
            try:
                return os.read(descriptor, most)
            except OSError:  # nothing there, or the adapter was unplugged: then nobody answers
                return b""

        def write(self, data: bytes) -> int:
            try:
                return os.write(descriptor, data)
            except OSError:
                return 0

        def flush(self) -> None:
            pass

    return Line()


def _open_line(path: Path, baud: int) -> int:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as why:
        remedy = "Plug in its adapter; this user must be in the group dialout."
        raise DeviceError(NAME, f"{path} cannot be opened ({why.strerror}).", remedy) from why
    try:
        set_up(descriptor, SPEEDS[baud])
    except (OSError, termios.error) as why:
        os.close(descriptor)
        raise DeviceError(NAME, f"{path} is not a serial port.", "Name another under [osdp], at = “…”.") from why
    return descriptor
