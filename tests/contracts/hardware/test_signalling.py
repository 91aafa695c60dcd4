"""What lamps, loudspeakers and barriers promise; loudspeaker and fake pass the same tests."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from hardware.fakes import FakeBarrier, FakeIndicator
from hardware.ports import Barrier, DeviceError, Indicator, Signal
from hardware.sound import Sound


@dataclass
class Lamp:
    """An indicator, and how to break it."""

    indicator: Indicator
    break_down: Callable[[], None]


def fake() -> Lamp:
    lamp = FakeIndicator()
    return Lamp(lamp, lamp.break_down)


def sound() -> Lamp:
    player = ["true"]
    loudspeaker = Sound(player).open()
    return Lamp(loudspeaker, lambda: setattr(loudspeaker, "_player", ("/nowhere/player",)))


@pytest.fixture(params=[fake, sound], ids=lambda make: make.__name__)
def lamp(request: pytest.FixtureRequest) -> Iterator[Lamp]:
    made: Lamp = request.param()
    yield made
    made.indicator.close()


def test_every_signal_can_be_given_again_and_again(lamp: Lamp) -> None:
    assert isinstance(lamp.indicator, Indicator)
    for signal in [*Signal, *Signal]:
        lamp.indicator.show(signal)


def test_a_broken_one_says_what_to_do(lamp: Lamp) -> None:
    lamp.break_down()
    with pytest.raises(DeviceError) as fault:
        lamp.indicator.show(Signal.DENY)
    assert fault.value.device
    assert fault.value.remedy


def test_it_can_be_closed_twice_and_shows_nothing_then(lamp: Lamp) -> None:
    lamp.indicator.close()
    lamp.indicator.close()
    with pytest.raises(DeviceError):
        lamp.indicator.show(Signal.ADMIT)


def test_a_barrier_opens_once_for_each_guest() -> None:
    barrier = FakeBarrier()
    assert isinstance(barrier, Barrier)
    barrier.let_one_through()
    barrier.let_one_through()
    assert barrier.openings == 2


def test_a_jammed_barrier_says_so_and_counts_nothing() -> None:
    barrier = FakeBarrier()
    barrier.jam()
    with pytest.raises(DeviceError, match="did not open"):
        barrier.let_one_through()
    barrier.free()
    barrier.let_one_through()
    assert barrier.openings == 1
