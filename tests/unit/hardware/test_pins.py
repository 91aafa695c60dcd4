"""Lamps, a buzzer and a barrier on pins, by gpiozero's own simulated pins."""

from collections.abc import Iterator
from typing import Any

import pytest
from gpiozero import Device
from gpiozero.pins.mock import MockFactory, MockPin

from hardware.devices import open_barrier, open_indicators
from hardware.patterns import LIGHTS, TONES, beeps
from hardware.pins.barrier import RelayBarrier
from hardware.pins.lamps import Buzzer, Lamps
from hardware.pins.options import Fail, PinOptions
from hardware.ports import Barrier, DeviceError, Indicator, Signal
from hardware.signalling import SignalOptions

LAMPS = PinOptions(green=17, yellow=22, red=27, buzzer=23)
GATE = PinOptions(relay=5, turned=6, emergency=13, fail=Fail.SECURE, open_ms=60_000)


class WiredPin(MockPin):
    """A pin with a contact to ground, which the pin's own weak pull cannot lift."""

    def _set_pull(self, value: str) -> None:
        self._pull = value


@pytest.fixture(autouse=True)
def pins() -> Iterator[MockFactory]:
    factory = MockFactory()
    Device.pin_factory = factory
    # All is well: the emergency contact is closed, nobody stands in the turnstile.
    factory.pin(13, pin_class=WiredPin).drive_low()
    yield factory
    factory.reset()
    Device.pin_factory = None


@pytest.fixture
def lamps(pins: MockFactory) -> Iterator[Lamps]:
    opened = Lamps(LAMPS).open()
    yield opened
    opened.close()


def was(pins: MockFactory, number: int) -> list[bool]:
    """The states that a pin had, from the first."""
    return [state.state for state in pins.pin(number).states]


class TestLamps:
    """What guests and staff see."""

    def test_a_guest_who_may_come_in_sees_green_when_show_returns(self, lamps: Lamps, pins: MockFactory) -> None:
        lamps.show(Signal.ADMIT)
        assert [pins.pin(number).state for number in (17, 22, 27)] == [1, 0, 0]

    def test_two_guests_with_the_same_verdict_never_look_like_one(self, lamps: Lamps, pins: MockFactory) -> None:
        lamps.show(Signal.ADMIT)
        lamps.show(Signal.ADMIT)
        assert lamps.player.wait_until_over(30)
        assert was(pins, 17) == [False, True, False, True, False]

    def test_the_same_code_held_up_longer_changes_nothing(self, lamps: Lamps, pins: MockFactory) -> None:
        lamps.show(Signal.ADMIT)
        lamps.show(Signal.AGAIN)
        assert lamps.player.wait_until_over(30)
        assert was(pins, 17) == [False, True, False]

    def test_a_new_verdict_replaces_the_last(self, lamps: Lamps, pins: MockFactory) -> None:
        lamps.show(Signal.ADMIT)
        lamps.show(Signal.FAULT)
        lamps.show(Signal.READY)
        assert [pins.pin(number).state for number in (17, 22, 27)] == [0, 0, 0]

    def test_signals_differ_without_colours(self) -> None:
        rhythms = {
            tuple((bool(step.on), step.millis) for step in LIGHTS[signal]) for signal in Signal if LIGHTS[signal]
        }
        assert len(rhythms) == sum(bool(steps) for steps in LIGHTS.values())

    def test_closed_lamps_are_dark_and_their_pins_free(self, pins: MockFactory) -> None:
        first = Lamps(LAMPS).open()
        first.show(Signal.DENY)
        first.close()
        assert pins.pin(27).state == 0
        Lamps(LAMPS).open().close()

    def test_a_lamp_that_lights_when_its_pin_is_low_stays_dark_at_the_start(self, pins: MockFactory) -> None:
        opened = Lamps(PinOptions(red=27, active_low=("red",))).open()
        assert pins.pin(27).state == 1
        opened.show(Signal.DENY)
        assert pins.pin(27).state == 0
        opened.close()


class TestBuzzer:
    """What they hear."""

    def test_rhythms_are_those_of_the_sounds(self) -> None:
        silent = {signal for signal in Signal if not TONES[signal]}
        assert {signal for signal in Signal if not beeps(signal)} == silent
        told_apart = {tuple(step.millis for step in beeps(signal)) for signal in Signal} - {()}
        assert len(told_apart) == len(Signal) - len(silent)

    def test_a_refused_guest_is_two_long_beeps(self, pins: MockFactory) -> None:
        buzzer = Buzzer(LAMPS, 70).open()
        buzzer.show(Signal.DENY)
        assert buzzer.player.wait_until_over(30)
        assert was(pins, 23) == [False, True, False, True, False]
        buzzer.close()

    def test_a_quiet_gate_does_not_beep(self, pins: MockFactory) -> None:
        buzzer = Buzzer(LAMPS, 0).open()
        buzzer.show(Signal.DENY)
        assert was(pins, 23) == [False]
        buzzer.close()


class TestBarrier:
    """A turnstile on a relay."""

    @pytest.fixture
    def told(self) -> list[bool]:
        return []

    @pytest.fixture
    def barrier(self, pins: MockFactory, told: list[bool]) -> Iterator[RelayBarrier]:
        opened = RelayBarrier(GATE, told.append).open()
        yield opened
        opened.close()

    def test_it_opens_for_one_person_and_shuts_behind_them(self, barrier: RelayBarrier, pins: MockFactory) -> None:
        barrier.let_one_through()
        assert pins.pin(5).state == 1
        pins.pin(6).drive_low()
        assert (pins.pin(5).state, barrier.is_open) == (0, False)

    def test_it_shuts_when_nobody_comes(self, pins: MockFactory) -> None:
        barrier = RelayBarrier(PinOptions(relay=5, fail=Fail.SECURE, open_ms=100)).open()
        barrier.let_one_through()
        timer = barrier._shut
        assert timer is not None
        timer.join(30)
        assert not barrier.is_open
        barrier.close()

    def test_an_emergency_opens_it_for_everybody_and_is_told_once(
        self, barrier: RelayBarrier, pins: MockFactory, told: list[bool]
    ) -> None:
        pins.pin(13).drive_high()
        pins.pin(6).drive_low()  # people go through, and it stays open
        barrier.let_one_through()
        pins.pin(6).drive_high()
        pins.pin(6).drive_low()
        assert (barrier.is_open, told) == (True, [True])
        pins.pin(13).drive_low()
        assert (barrier.is_open, told) == (False, [True, False])

    def test_an_emergency_that_began_before_the_gate_started_opens_it(
        self, pins: MockFactory, told: list[bool]
    ) -> None:
        pins.pin(13).drive_high()  # as when its cable is cut
        barrier = RelayBarrier(GATE, told.append).open()
        assert (barrier.is_open, told) == (True, [True])
        barrier.close()

    @pytest.mark.parametrize(("fail", "shut", "open_state"), [(Fail.SAFE, 1, 0), (Fail.SECURE, 0, 1)])
    def test_what_it_does_without_power_is_what_the_relay_does_when_it_falls(
        self, pins: MockFactory, fail: Fail, shut: int, open_state: int
    ) -> None:
        barrier = RelayBarrier(PinOptions(relay=5, fail=fail)).open()
        assert (pins.pin(5).state, barrier.is_open) == (shut, False)
        barrier.let_one_through()
        assert (pins.pin(5).state, barrier.is_open) == (open_state, True)
        barrier.close()

    def test_a_barrier_that_is_closed_down_lets_nobody_through(self, barrier: RelayBarrier) -> None:
        barrier.close()
        with pytest.raises(DeviceError, match="closed down"):
            barrier.let_one_through()


@pytest.mark.parametrize(
    ("kinds", "pins_", "says"),
    [
        (("lamps",), PinOptions(), "No lamp is wired"),
        (("buzzer",), PinOptions(), "No buzzer is wired"),
        (("lamps",), PinOptions(green=99), "Pin 99 cannot be used"),
        (("lamps", "buzzer"), PinOptions(green=5, buzzer=5), "Pin 5 cannot be used"),
    ],
)
def test_what_is_not_wired_is_said_and_the_rest_is_let_go(kinds: tuple[str, ...], pins_: PinOptions, says: str) -> None:
    with pytest.raises(DeviceError, match=says):
        open_indicators(kinds, SignalOptions(pins_))
    for indicator in open_indicators(("lamps",), SignalOptions(PinOptions(green=5))):
        assert isinstance(indicator, Indicator)
        indicator.close()


def test_a_barrier_without_a_relay_is_an_error() -> None:
    with pytest.raises(DeviceError, match="name no relay"):
        open_barrier("relay", SignalOptions(PinOptions(relay=5)))
    opened: Any = open_barrier("relay", SignalOptions(GATE))
    assert isinstance(opened, Barrier)
    opened.close()
