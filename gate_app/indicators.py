"""Signals a verdict by lamp, sound and barrier, in this order; a device that fails is reported, never waited for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from hardware.ports import Audible, Barrier, DeviceError, Indicator, Signal
from shared.attempts import Mode, Verdict
from shared.reasons import Reason

FaultReport = Callable[[DeviceError], None]
Recovery = Callable[[str], None]
"""Called with the name of a device that works again."""

NOT_THE_GUESTS_FAULT = frozenset({Reason.GATE_NOT_READY, Reason.CANNOT_RECORD})
# Notices about what the gate knows, not about what staff should do: offline, every guest has them.
FOR_THE_RECORD = frozenset({"not_yet_synced", "capacity_estimated", "clock_uncertain", "override", "membership"})


def signal_for(verdict: Verdict, mode: Mode) -> Signal:
    """The signal for a new verdict."""
    if verdict.reason in NOT_THE_GUESTS_FAULT:
        return Signal.FAULT
    if not verdict.admitted:
        return Signal.DENY
    if mode is Mode.TEST:
        return Signal.TEST
    # People who leave are not checked.
    quiet = verdict.reason is Reason.EXITED or not any(map(wants_attention, verdict.notices))
    return Signal.ADMIT if quiet else Signal.ATTENTION


def wants_attention(notice: str) -> bool:
    """Whether staff must look before the guest walks on."""
    return notice.partition(":")[0] not in FOR_THE_RECORD


def opens_barrier(verdict: Verdict, mode: Mode) -> bool:
    """Whether the barrier opens: never in test mode."""
    return verdict.admitted and mode is Mode.REAL


class Indicators:
    """The lamps, loudspeakers and the barrier of one gate. Call it only after the journal entry is on disk."""

    def __init__(
        self,
        indicators: Sequence[Indicator],
        barrier: Barrier | None,
        report: FaultReport,
        recovered: Recovery,
    ) -> None:
        self._indicators = tuple(indicators)
        self._barrier = barrier
        self._report = report
        self._recovered = recovered
        self._failing: dict[Indicator | Barrier, str] = {}

    def show(self, verdict: Verdict, mode: Mode) -> bool:
        """Signals a new verdict. When it returns, the lamp is lit and the entry can be marked as shown.

        Returns whether the barrier opened for somebody.
        """
        self._show(signal_for(verdict, mode))
        if self._barrier is None or not opens_barrier(verdict, mode):
            return False
        return self._try(self._barrier, self._barrier.let_one_through)

    def repeat(self) -> None:
        """The same code again: the verdict stands, without a second beep or a second opening of the barrier."""
        self._show(Signal.AGAIN)

    def set_loudness(self, percent: int) -> None:
        """Whatever sounds is so loud from now on; 0 is quiet."""
        for device in self._indicators:
            if isinstance(device, Audible):
                self._try(device, partial(device.set_loudness, percent))

    def ready(self) -> None:
        """Signals that the gate is waiting for the next guest."""
        self._show(Signal.READY)

    def close(self) -> None:
        for device in self._indicators:
            device.close()
        if self._barrier is not None:
            self._barrier.close()

    def _show(self, signal: Signal) -> None:
        for indicator in self._indicators:
            self._try(indicator, partial(indicator.show, signal))

    def _try(self, device: Indicator | Barrier, act: Callable[[], None]) -> bool:
        try:
            act()
        except DeviceError as fault:
            self._failing[device] = fault.device
            self._report(fault)
            return False
        if device in self._failing:
            self._recovered(self._failing.pop(device))
        return True
