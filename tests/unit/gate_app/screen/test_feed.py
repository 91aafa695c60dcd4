"""What screens are given: the newest state at once, every change, and a heartbeat in between."""

import threading

from gate_app.display.announcement import Tone
from gate_app.display.condition import STUCK
from gate_app.screen.feed import Feed
from hardware.ports import Hint
from tests.browser.gate_scenes import a_scan, a_status, already_used


class Clock:
    def __init__(self) -> None:
        self.now_ns = 1_000_000_000

    def __call__(self) -> int:
        return self.now_ns

    def pass_ms(self, millis: int) -> None:
        self.now_ns += millis * 1_000_000


def test_counts_go_on_from_the_journal_and_tell_admitted_from_refused() -> None:
    feed = Feed(Clock(), admitted=40, refused=2)
    for scan in (a_scan(), a_scan(notices=["vip"]), already_used()):
        feed.show(scan)
    assert (feed.view().admitted, feed.view().refused) == (42, 3)


def test_a_repeat_is_shown_as_one_and_counted_nowhere() -> None:
    feed = Feed(Clock())
    feed.show(a_scan())
    feed.show(a_scan(again=True))
    feed.show(a_scan(again=True))
    view = feed.view()
    assert (view.again, view.admitted, len(view.recent), view.verdict_number) == (2, 1, 1, 1)


def test_an_admission_that_a_power_cut_hid_is_shown_after_the_start_and_counted_once() -> None:
    feed = Feed(Clock(), admitted=1)
    feed.show(a_scan(again=True))
    view = feed.view()
    assert view.verdict is not None
    assert (view.again, view.admitted) == (0, 1)


def test_the_next_guest_is_no_repeat() -> None:
    feed = Feed(Clock())
    feed.show(a_scan())
    feed.show(a_scan(again=True))
    feed.show(already_used())
    assert (feed.view().again, feed.view().verdict_number) == (0, 2)


def test_test_scans_and_faults_of_the_gate_are_not_counted() -> None:
    feed = Feed(Clock())
    feed.show(a_scan(reason="test_ok", mode="test"))
    feed.show(already_used(mode="test"))
    feed.show(a_scan(verdict="deny", reason="cannot_record"))
    assert (feed.view().admitted, feed.view().refused) == (0, 0)


def test_the_last_ten_are_kept_newest_first() -> None:
    feed = Feed(Clock())
    for n in range(12):
        feed.show(a_scan(message=str(n)))
    assert [scan.message for scan in feed.view().recent] == [str(n) for n in range(11, 1, -1)]


def test_a_verdict_grows_old_and_a_repeat_makes_it_fresh() -> None:
    clock = Clock()
    feed = Feed(clock)
    feed.show(a_scan())
    clock.pass_ms(4_000)
    assert feed.view().age_ms == 4_000
    feed.show(a_scan(again=True))
    assert feed.view().age_ms == 0


def test_a_camera_that_hints_thirty_times_a_second_is_heard_now_and_then() -> None:
    clock = Clock()
    feed = Feed(clock)
    for _ in range(30):
        feed.hint(Hint.COME_CLOSER)
        clock.pass_ms(33)
    assert (feed.view().hint_number, feed.view().hint) == (2, "Come closer, the code is too small")


def test_a_fault_is_a_warning_until_it_is_over() -> None:
    feed = Feed(Clock())
    feed.fault("camera", "The camera was unplugged.")
    feed.status(a_status(warnings=["The disk is nearly full."]))
    assert feed.view().condition.warnings == ("The disk is nearly full.", "The camera was unplugged.")
    feed.fault("camera", None)
    assert feed.view().condition.warnings == ("The disk is nearly full.",)


def test_before_the_first_status_the_gate_claims_nothing() -> None:
    now = Feed(Clock()).view().condition
    assert (now.online, now.snapshot, now.snapshot_old, now.unsent) == (False, "never", True, 0)


def test_times_are_shown_in_the_time_zone_of_the_event_and_a_wrong_one_does_no_harm() -> None:
    feed = Feed(Clock())
    shown = []
    for zone in ("Europe/Berlin", "Atlantis/Capital", "../../etc/passwd", ""):
        feed.status(a_status(timezone=zone))
        feed.show(a_scan())
        verdict = feed.view().verdict
        shown.append(verdict.at if verdict else None)
    assert shown == ["19:31:08", "17:31:08", "17:31:08", "17:31:08"]


def test_a_screen_that_joins_late_sees_the_state_at_once() -> None:
    feed, stop = Feed(Clock()), threading.Event()
    feed.show(already_used())
    first = next(feed.views(stop))
    assert first.verdict is not None
    assert first.verdict.tone is Tone.DENY


def test_a_change_wakes_a_waiting_screen() -> None:
    feed, stop = Feed(Clock()), threading.Event()
    views = feed.views(stop, beat_s=600)
    before = next(views)
    seen = []
    waiting = threading.Thread(target=lambda: seen.append(next(views)))
    waiting.start()
    feed.show(a_scan())
    waiting.join(20)
    assert [view.number for view in seen] == [before.number + 1]


def test_a_quiet_gate_still_gives_a_heartbeat() -> None:
    views = Feed(Clock()).views(threading.Event(), beat_s=0.01)
    assert next(views).number == next(views).number


def test_a_gate_whose_status_stands_still_is_not_ready_though_its_screen_answers() -> None:
    clock = Clock()
    feed = Feed(clock, stuck_after_s=20)
    feed.status(a_status())
    clock.pass_ms(20_000)
    assert feed.view().condition.ready
    clock.pass_ms(1)
    assert (feed.view().condition.ready, feed.view().condition.warnings) == (False, (STUCK,))
    feed.status(a_status())
    assert feed.view().condition.ready


def test_a_stopped_screen_ends() -> None:
    feed, stop = Feed(Clock()), threading.Event()
    views = feed.views(stop, beat_s=600)
    next(views)
    ended = threading.Thread(target=lambda: list(views))
    ended.start()
    stop.set()
    feed.wake()
    ended.join(20)
    assert not ended.is_alive()
