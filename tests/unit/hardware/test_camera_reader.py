"""Frames become readings: each ticket once while it is held up, one at a time, and nobody swallowed."""

from collections.abc import Callable
from dataclasses import dataclass, field

import cv2
import numpy as np

from hardware.ports import Hint, ignore_hint
from hardware.vision.camera import Frame
from hardware.vision.camera_reader import CameraReader
from hardware.vision.decoder import Decoder
from hardware.vision.pixels import Image
from hardware.vision.region import Region
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


def is_ticket(text: str) -> bool:
    return text.startswith("MAY1")


def read_all(showing: Showing, on_hint: Callable[[Hint], None] = ignore_hint) -> list[tuple[str, int]]:
    reader = CameraReader(showing, Decoder(), showing.now_ns, on_hint=on_hint, wanted=is_ticket)
    found = []
    while not reader.ended:
        reading = reader.next(0.2)
        if reading:
            found.append((reading.text, reading.at_monotonic_ns // 1_000_000))
    return found


def test_only_the_region_is_looked_at_and_shown() -> None:
    """The next lane's guests, on the right, are none of this camera's."""
    for frame in (beside(ANNA, BEN), cv2.imencode(".jpg", beside(ANNA, BEN))[1].reshape(1, -1)):
        showing = Showing([np.asarray(frame, np.uint8)] * 3)
        reader = CameraReader(
            showing, Decoder(), showing.now_ns, wanted=is_ticket, region=Region(left=0, top=0, width=46, height=100)
        )
        reader.picture(-1, 0)
        reading = reader.next(0.2)
        assert reading is not None
        assert reading.text == ANNA
        shown = reader.picture(-1, 0)
        assert shown is not None
        assert cv2.imdecode(np.frombuffer(shown.jpeg, np.uint8), cv2.IMREAD_COLOR).shape[:2] == (480, 294)


def texts(showing: Showing) -> list[str]:
    return [text for text, _ in read_all(showing)]


def beside(left: str, right: str, size: float = 3) -> Image:
    return held_up(code(right, size), held_up(code(left, 4), SCENE, (20, 20)), (300, 200))


def test_a_phone_that_lies_there_for_ten_seconds_is_one_reading() -> None:
    assert len(texts(Showing([phone(ANNA)] * 300))) == 1


def test_a_ticket_that_left_the_picture_is_read_again() -> None:
    gone = [SCENE] * 40
    assert texts(Showing([phone(ANNA), *gone, phone(ANNA)])) == [ANNA, ANNA]


def test_a_trembling_hand_is_no_second_presentation() -> None:
    assert texts(Showing([phone(ANNA), SCENE, SCENE, phone(ANNA)] * 8)) == [ANNA]


def test_a_ticket_under_a_glare_is_still_there_afterwards() -> None:
    """Two seconds long it can be seen but not read."""
    spoiled = held_up(damaged(code(ANNA, 4)), SCENE, (20, 20))
    assert texts(Showing([phone(ANNA), *[spoiled] * 60, phone(ANNA)])) == [ANNA]


def test_the_next_guest_is_never_swallowed() -> None:
    assert texts(Showing([phone(ANNA), phone(BEN), phone(ANNA), phone(BEN)])) == [ANNA, BEN]


def test_of_two_tickets_the_one_held_out_is_read_and_the_screen_says_so() -> None:
    hints: list[Hint] = []
    read = read_all(Showing([beside(ANNA, BEN)] * 30), hints.append)
    assert ([text for text, _ in read], set(hints)) == ([ANNA], {Hint.ONE_AT_A_TIME})


def test_the_other_ticket_comes_when_it_is_held_up_alone() -> None:
    """Not in the moment in which a sheet with both is taken away."""
    alone = held_up(code(BEN, 3), SCENE, (300, 200))
    taken_away = [beside(ANNA, BEN)] * 5 + [alone] * 5
    assert texts(Showing([*taken_away, *[SCENE] * 40])) == [ANNA]
    assert texts(Showing(taken_away + [alone] * 20)) == [ANNA, BEN]


def test_a_poster_in_the_picture_does_not_keep_tickets_out() -> None:
    poster = held_up(code("https://band.example/tour", 6), SCENE, (20, 20))
    with_anna = held_up(code(ANNA, 2.5), poster, (330, 100))
    assert texts(Showing([poster] * 10 + [with_anna] * 5 + [poster] * 100)) == ["https://band.example/tour", ANNA]


def test_an_advertisement_beside_the_ticket_is_no_attempt_to_come_in() -> None:
    sheet = held_up(code("https://band.example/tour", 4), phone(ANNA), (330, 250))
    leaving = held_up(code("https://band.example/tour", 4), SCENE, (330, 250))
    assert texts(Showing([sheet] * 5 + [leaving] * 5 + [SCENE] * 40)) == [ANNA]


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
    hints: list[Hint] = []
    worn = held_up(damaged(code(ANNA, 5)), SCENE, (20, 20))
    assert read_all(Showing([worn]), hints.append) == []
    assert hints == [Hint.HOLD_STILL]


def test_half_a_jpeg_is_a_lost_frame_and_no_fault() -> None:
    half = np.frombuffer(b"\xff\xd8 and then the cable shook", np.uint8)[None, :]
    assert texts(Showing([half, phone(ANNA)])) == [ANNA]


def test_closing_the_reader_closes_the_camera() -> None:
    showing = Showing([])
    CameraReader(showing, Decoder(), showing.now_ns).close()
    assert showing.closed
