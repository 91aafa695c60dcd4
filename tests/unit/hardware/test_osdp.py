"""Lamp, buzzer and barrier on an OSDP line: the other side is libosdp's own, over a pair of pseudo-terminals."""

from __future__ import annotations

import os
import threading
import time
import tty
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import osdp
import pytest

from hardware.devices import open_barrier, open_indicators
from hardware.osdp import bus
from hardware.osdp.options import OsdpOptions
from hardware.pins.options import Fail
from hardware.ports import Barrier, DeviceError, Indicator, Signal
from hardware.signalling import SignalOptions

KEY = bytes(range(16))
GREEN, RED = 2, 1


class Door:
    """A reader with a lamp, a buzzer and two outputs at address 101, and the cable to it."""

    def __init__(self, key: bytes = KEY) -> None:
        self.far, self.near = os.openpty()
        for end in (self.far, self.near):
            tty.setraw(end)
            os.set_blocking(end, False)
        self.done: list[dict[str, Any]] = []
        self._came = threading.Condition()
        far = self.far

        class Line(osdp.Channel):  # type: ignore[misc,name-defined]
            def read(self, most: int) -> bytes:
                try:
                    return os.read(far, most)
                except OSError:
                    return b""

            def write(self, data: bytes) -> int:
                return os.write(far, data)

            def flush(self) -> None:
                pass

        able = osdp.PDCapabilities(
            [
                (osdp.Capability.OutputControl, 1, 2),
                (osdp.Capability.LEDControl, 1, 1),
                (osdp.Capability.AudibleControl, 1, 1),
            ]
        )
        self.device = osdp.PeripheralDevice(osdp.PDInfo(101, Line(), scbk=key), able, log_level=osdp.LogLevel.Critical)
        self.device.set_command_handler(self._do)
        self.device.start()

    def _do(self, command: dict[str, Any]) -> tuple[int, None]:
        with self._came:
            self.done.append(command)
            self._came.notify_all()
        return 0, None

    def options(self, **changed: Any) -> SignalOptions:
        here = OsdpOptions(os.ttyname(self.near), 101, 115200, KEY, output=1, fail=Fail.SECURE, open_ms=3_000)
        return SignalOptions(osdp=replace(here, **changed))

    def told(self, kind: int, count: int = 1) -> list[dict[str, Any]]:
        """The first commands of this kind, once there are so many."""
        with self._came:
            assert self._came.wait_for(lambda: sum(one["command"] == kind for one in self.done) >= count, 30)
            return [one for one in self.done if one["command"] == kind]

    def fall_silent(self) -> None:
        if self.device is not None:
            self.device.teardown()
            self.device = None

    def close(self) -> None:
        self.fall_silent()
        for end in (self.far, self.near):
            os.close(end)


@pytest.fixture
def door() -> Iterator[Door]:
    made = Door()
    yield made
    made.close()


def test_lamp_and_buzzer_give_each_verdict_its_own_signal(door: Door) -> None:
    (lamp,) = open_indicators(("osdp",), door.options())
    assert isinstance(lamp, Indicator)
    lamp.show(Signal.ADMIT)
    lamp.show(Signal.DENY)
    lights, beeps = door.told(osdp.Command.LED, 2), door.told(osdp.Command.Buzzer, 2)
    assert [light["on_color"] for light in lights] == [GREEN, RED]
    assert [light["timer_count"] for light in lights] == [30, 48]
    assert [beep["rep_count"] for beep in beeps] == [1, 2]
    lamp.show(Signal.AGAIN)
    lamp.close()
    lamp.close()
    with pytest.raises(DeviceError):
        lamp.show(Signal.ADMIT)
    assert len(door.done) == 4, "a repeat gives no signal"


def test_a_quiet_gate_does_not_beep(door: Door) -> None:
    (lamp,) = open_indicators(("osdp",), replace(door.options(), loudness=0))
    lamp.show(Signal.ADMIT)
    door.told(osdp.Command.LED)
    lamp.close()
    assert [one["command"] for one in door.done] == [osdp.Command.LED]


@pytest.mark.parametrize(("fail", "shut", "opened"), [(Fail.SECURE, 1, 5), (Fail.SAFE, 2, 6)])
def test_a_barrier_opens_for_a_while_and_fails_as_it_is_wired(door: Door, fail: Fail, shut: int, opened: int) -> None:
    barrier = open_barrier("osdp", door.options(fail=fail))
    assert isinstance(barrier, Barrier)
    assert not barrier.tells_turns
    barrier.let_one_through()
    commands = door.told(osdp.Command.Output, 2)
    assert [(one["output_no"], one["control_code"], one["timer_count"]) for one in commands] == [
        (1, shut, 0),
        (1, opened, 30),
    ]
    barrier.close()


def test_lamp_and_barrier_share_the_line(door: Door) -> None:
    (lamp,) = open_indicators(("osdp",), door.options())
    barrier = open_barrier("osdp", door.options())
    assert barrier is not None
    lamp.close()
    barrier.let_one_through()
    door.told(osdp.Command.Output, 2)
    barrier.close()
    assert bus._SHARED == {}


def test_a_device_with_another_key_is_not_spoken_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus, "ONLINE_S", 1.5)
    stranger = Door(key=bytes(16))
    with pytest.raises(DeviceError, match="No device answers at address 101"):
        open_indicators(("osdp",), stranger.options())
    assert stranger.done == []
    stranger.close()


def test_a_device_that_falls_silent_is_a_fault_until_it_is_back(door: Door) -> None:
    (lamp,) = open_indicators(("osdp",), door.options())
    door.fall_silent()
    give_up = time.monotonic() + 60
    with pytest.raises(DeviceError, match="does not do what it is told") as fault:
        while time.monotonic() < give_up:
            lamp.show(Signal.ADMIT)
            threading.Event().wait(0.1)
    assert fault.value.remedy
    lamp.close()


def test_what_a_barrier_does_without_power_must_be_said(door: Door) -> None:
    with pytest.raises(DeviceError, match="without power"):
        open_barrier("osdp", door.options(fail=None))
    with pytest.raises(DeviceError, match=r"Add \[osdp\]"):
        open_barrier("osdp", SignalOptions())


def test_a_line_that_is_not_there() -> None:
    with pytest.raises(DeviceError, match="cannot be opened"):
        open_indicators(("osdp",), SignalOptions(osdp=OsdpOptions("/dev/nowhere")))
