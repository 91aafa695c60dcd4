"""The signals for each verdict; a broken lamp holds nobody up."""

import pytest

from gate_app.indicators import Indicators, signal_for
from hardware.fakes import FakeBarrier, FakeIndicator
from hardware.ports import DeviceError, Signal
from shared.attempts import Mode, Verdict
from shared.reasons import ADMITTING, Reason

COME_IN = Verdict(Reason.ADMITTED, "Welcome.")
USED = Verdict(Reason.ALREADY_USED, "Used at 19:30 at gate A.")


class Lane:
    """One lane's devices and what was reported about them."""

    def __init__(self, lamps: int = 2) -> None:
        self.lamps = [FakeIndicator() for _ in range(lamps)]
        self.barrier = FakeBarrier()
        self.faults: list[DeviceError] = []
        self.recovered: list[str] = []
        self.signals = Indicators(self.lamps, self.barrier, self.faults.append, self.recovered.append)


def test_an_admitted_guest_sees_green_and_the_barrier_opens_once() -> None:
    lane = Lane()
    lane.signals.show(COME_IN, Mode.REAL)
    assert [lamp.shown for lamp in lane.lamps] == [[Signal.ADMIT]] * 2
    assert lane.barrier.openings == 1


def test_a_refused_guest_stays_outside() -> None:
    lane = Lane()
    lane.signals.show(USED, Mode.REAL)
    assert lane.lamps[0].shown == [Signal.DENY]
    assert lane.barrier.openings == 0


def test_a_code_held_up_again_opens_nothing_a_second_time() -> None:
    lane = Lane()
    lane.signals.show(COME_IN, Mode.REAL)
    lane.signals.repeat()
    assert lane.lamps[0].shown == [Signal.ADMIT, Signal.AGAIN]
    assert lane.barrier.openings == 1


@pytest.mark.parametrize("reason", sorted(ADMITTING))
def test_in_test_mode_no_barrier_opens(reason: Reason) -> None:
    lane = Lane()
    lane.signals.show(Verdict(reason, ""), Mode.TEST)
    assert lane.barrier.openings == 0
    assert lane.lamps[0].shown == [Signal.TEST]


@pytest.mark.parametrize("reason", [Reason.GATE_NOT_READY, Reason.CANNOT_RECORD])
def test_a_gate_in_trouble_does_not_sound_like_a_bad_ticket(reason: Reason) -> None:
    assert signal_for(Verdict(reason, ""), Mode.REAL) is Signal.FAULT


@pytest.mark.parametrize("notice", ["check:photo ID", "wheelchair", "companion", "vip", "membership_unverified"])
def test_staff_are_called_when_there_is_something_to_do(notice: str) -> None:
    assert signal_for(Verdict(Reason.ADMITTED, "", (notice,)), Mode.REAL) is Signal.ATTENTION


def test_a_gate_without_a_network_does_not_call_staff_for_every_guest() -> None:
    quiet = Verdict(Reason.ADMITTED, "", ("not_yet_synced", "capacity_estimated", "clock_uncertain"))
    assert signal_for(quiet, Mode.REAL) is Signal.ADMIT


def test_a_member_whose_membership_is_known_and_somebody_who_leaves_call_nobody() -> None:
    assert signal_for(Verdict(Reason.ADMITTED, "", ("membership:gold",)), Mode.REAL) is Signal.ADMIT
    assert signal_for(Verdict(Reason.EXITED, "", ("wheelchair",)), Mode.REAL) is Signal.ADMIT


def test_a_broken_lamp_is_reported_and_the_other_lamp_and_the_barrier_still_work() -> None:
    lane = Lane()
    lane.lamps[0].break_down()
    lane.signals.show(COME_IN, Mode.REAL)
    assert lane.lamps[1].shown == [Signal.ADMIT]
    assert lane.barrier.openings == 1
    assert [fault.device for fault in lane.faults] == ["lamp"]


def test_a_device_that_works_again_is_reported_once() -> None:
    lane = Lane(lamps=1)
    lane.lamps[0].break_down()
    lane.signals.ready()
    lane.lamps[0].repair()
    lane.signals.ready()
    lane.signals.ready()
    assert lane.recovered == ["lamp"]


def test_a_jammed_barrier_is_reported() -> None:
    lane = Lane()
    lane.barrier.jam()
    lane.signals.show(COME_IN, Mode.REAL)
    assert [fault.device for fault in lane.faults] == ["barrier"]


def test_a_gate_with_a_screen_only_needs_no_devices() -> None:
    lane = Lane()
    Indicators([], None, lane.faults.append, lane.recovered.append).show(COME_IN, Mode.REAL)
    assert lane.faults == []


def test_closing_closes_every_device() -> None:
    lane = Lane()
    lane.signals.close()
    assert all(lamp.closed for lamp in lane.lamps)
    assert lane.barrier.closed
