"""A turnstile or door on a relay, with the contacts that tell when somebody went through and when to let all out."""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from hardware.pins.options import Fail, PinOptions
from hardware.pins.outputs import contact, output
from hardware.ports import DeviceError

if TYPE_CHECKING:
    from gpiozero import DigitalInputDevice, OutputDevice

BARRIER = "barrier"


def tell_nobody(*_what: bool) -> None:
    """Tells nobody."""


class RelayBarrier:
    """A Barrier that opens for one person: until somebody went through, or for a while."""

    def __init__(
        self,
        pins: PinOptions,
        on_emergency: Callable[[bool], None] = tell_nobody,
        on_turned: Callable[[], None] = tell_nobody,
    ) -> None:
        self._pins = pins
        self._on_turned = on_turned
        self._on_emergency = on_emergency
        self._relay: OutputDevice | None = None
        self._contacts: list[DigitalInputDevice] = []
        self._shut: threading.Timer | None = None
        self._emergency = False
        # Contacts report from threads of their own.
        self._lock = threading.RLock()

    @property
    def tells_turns(self) -> bool:
        return self._pins.turned is not None

    @property
    def is_open(self) -> bool:
        """Whether somebody could go through."""
        with self._lock:
            # Fail-safe: the relay holds the barrier shut, and a cut cable lets people through.
            return self._relay is not None and bool(self._relay.value) != (self._pins.fail is Fail.SAFE)

    def open(self) -> "RelayBarrier":
        """Takes the pins; the barrier stays shut unless there is an emergency. Raises DeviceError."""
        if self._pins.relay is None or self._pins.fail is None:
            happened = "The settings name no relay, or do not say what the barrier does without power."
            raise DeviceError(
                BARRIER, happened, 'Add relay and fail ("safe" or "secure") under [pins] in the settings.'
            )
        with ExitStack() as undo:
            undo.callback(self.close)
            safe = self._pins.fail is Fail.SAFE
            self._relay = output(BARRIER, self._pins.relay, active_low="relay" in self._pins.active_low, on=safe)
            if self._pins.turned is not None:
                # A contact that closes for each person.
                self._watch(self._pins.turned).when_activated = self._somebody_went_through
            if self._pins.emergency is not None:
                self._watch_emergency(self._pins.emergency)
            undo.pop_all()
        return self

    def let_one_through(self) -> None:
        with self._lock:
            if self._relay is None:
                raise DeviceError(BARRIER, "The barrier is closed down.", "Start the gate again.")
            self._forget_timer()
            self._move(opened=True)
            self._shut = threading.Timer(self._pins.open_ms / 1000, self._close_again)
            self._shut.daemon = True
            self._shut.start()

    def close(self) -> None:
        """Lets go of the pins: the barrier does what it does without power."""
        with self._lock:
            self._forget_timer()
            relay, self._relay = self._relay, None
            contacts, self._contacts = self._contacts, []
        # Outside the lock: closing a contact waits for its thread, which may be about to report.
        for device in contacts:
            device.close()
        if relay is not None:
            relay.close()

    def _watch(self, pin: int) -> "DigitalInputDevice":
        self._contacts.append(contact(BARRIER, pin))
        return self._contacts[-1]

    def _watch_emergency(self, pin: int) -> None:
        # The contact is closed while all is well: a cut cable is an emergency too.
        watched = self._watch(pin)
        watched.when_deactivated = lambda: self._emergency_is(on=True)
        watched.when_activated = lambda: self._emergency_is(on=False)
        if not watched.is_active:
            self._emergency_is(on=True)

    def _emergency_is(self, *, on: bool) -> None:
        with self._lock:
            if self._emergency == on or self._relay is None:
                return
            self._emergency = on
            self._forget_timer()
            self._move(opened=on)
        # The barrier is open before anything is written.
        self._on_emergency(on)

    def _somebody_went_through(self) -> None:
        with self._lock:
            self._forget_timer()
            self._move(opened=False)
        # The barrier is shut before anything is written.
        self._on_turned()

    def _close_again(self) -> None:
        with self._lock:
            if self._shut is threading.current_thread():
                self._move(opened=False)

    def _move(self, *, opened: bool) -> None:
        if self._relay is not None:
            self._relay.value = (opened or self._emergency) != (self._pins.fail is Fail.SAFE)

    def _forget_timer(self) -> None:
        timer, self._shut = self._shut, None
        if timer is not None:
            timer.cancel()
