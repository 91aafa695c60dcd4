"""Frames become readings: often enough for the lane, never so often that it drowns, and no code lost."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from hardware.camera import Frame
from hardware.camera_reader import CameraReader
from hardware.decoder import Decoder
from hardware.pixels import Image
from tests.unit.hardware.images import code, damaged, held_up, room, ticket_text

ANNA, BEN = ticket_text(1), ticket_text(2)
SCENE = room(640, 480)
FRAME_MS = 33


@dataclass
class Showing:
    """A source that shows one picture after the other, a frame's time apart."""

    pictures: list[Image]
    name: str = "left lane"
    shown: int = 0
    ended: bool = False
    closed: bool = field(default=False, init=False)

    def now_ns(self) -> int:
        return self.shown * FRAME_MS * 1_000_000

    def newest(self, timeout_s: float) -> Frame | None:
        if self.shown == len(self.pictures):
            self.ended = True
            return None
        self.shown += 1
        return Frame(self.pictures[self.shown - 1], self.now_ns())

    def close(self) -> None:
        self.closed = True


def phone(text: str, at: tuple[int, int] = (20, 20)) -> Image:
    return held_up(code(text, 4), SCENE, at)


def read_all(showing: Showing, on_glimpse: Callable[[], None] = lambda: None) -> list[tuple[str, int]]:
    reader = CameraReader(showing, Decoder(), showing.now_ns, on_glimpse)
    found = []
    while not reader.ended:
        reading = reader.next(0.2)
        if reading:
            found.append((reading.text, reading.at_monotonic_ns // 1_000_000))
    return found


def test_a_code_held_for_a_second_is_delivered_about_four_times() -> None:
    times = [at for _, at in read_all(Showing([phone(ANNA)] * 30))]
    assert len(times) == 4
    assert all(later - earlier >= 250 for earlier, later in pairwise(times))


def test_the_next_guest_is_never_swallowed() -> None:
    read = read_all(Showing([phone(ANNA), phone(BEN), phone(ANNA), phone(BEN)]))
    assert [text for text, _ in read] == [ANNA, BEN]


def test_two_codes_in_one_frame_are_two_readings() -> None:
    both = held_up(code(BEN, 4), phone(ANNA), (300, 200))
    assert {text for text, _ in read_all(Showing([both]))} == {ANNA, BEN}


def test_a_reading_tells_when_its_frame_was_taken_and_by_which_reader() -> None:
    showing = Showing([SCENE, SCENE, phone(ANNA)])
    reading = CameraReader(showing, Decoder(), showing.now_ns).next(1)
    assert reading is not None
    assert (reading.reader, reading.at_monotonic_ns) == ("left lane", 99_000_000)


def test_an_empty_scene_gives_the_caller_back_its_thread_in_time() -> None:
    showing = Showing([SCENE] * 100)
    assert CameraReader(showing, Decoder(), showing.now_ns).next(0.2) is None
    assert showing.shown <= 8


def test_a_worn_code_is_hinted_at() -> None:
    glimpses: list[bool] = []
    worn = held_up(damaged(code(ANNA, 5)), SCENE, (20, 20))
    assert read_all(Showing([worn]), lambda: glimpses.append(True)) == []
    assert glimpses


def test_closing_the_reader_closes_the_camera() -> None:
    showing = Showing([])
    CameraReader(showing, Decoder(), showing.now_ns).close()
    assert showing.closed
