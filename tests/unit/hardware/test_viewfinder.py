"""The live picture: made for whoever looks, outlined, and not made at all otherwise."""

import cv2
import numpy as np

from hardware.vision.pixels import Image
from hardware.vision.stills import decode_still
from hardware.vision.viewfinder import Viewfinder
from tests.unit.hardware.images import code, damaged, held_up, room, ticket_text

SEEN = held_up(code(ticket_text(), 4), room(), (400, 150))


class Clock:
    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        return self.now_ns

    def pass_ms(self, millis: int) -> None:
        self.now_ns += millis * 1_000_000


def shown(pixels: Image) -> Image:
    """What somebody who has been looking for a moment sees of a frame."""
    clock = Clock()
    viewfinder = Viewfinder(clock)
    viewfinder.picture(-1, 0)
    viewfinder.show(pixels, decode_still(pixels))
    picture = viewfinder.picture(-1, 0)
    assert picture is not None
    return np.asarray(cv2.imdecode(np.frombuffer(picture.jpeg, np.uint8), cv2.IMREAD_COLOR), np.uint8)


def of_colour(image: Image, least: tuple[int, int, int], most: tuple[int, int, int]) -> int:
    return int(np.count_nonzero(cv2.inRange(image, np.array(least), np.array(most))))


def greens(image: Image) -> int:
    return of_colour(image, (40, 170, 20), (130, 255, 110))


def yellows(image: Image) -> int:
    return of_colour(image, (20, 150, 200), (110, 240, 255))


def test_a_code_that_was_read_is_outlined_where_it_is() -> None:
    image = shown(SEEN)
    assert image.shape == (270, 480, 3)
    rows, columns = np.nonzero(cv2.inRange(image, np.array((40, 170, 20)), np.array((130, 255, 110))))
    assert abs(float(columns.mean()) - (400 + 4 * 26.5) * 480 / 1280) < 6
    assert abs(float(rows.mean()) - (150 + 4 * 26.5) * 480 / 1280) < 6


def test_a_code_that_is_only_seen_has_another_colour_and_an_empty_room_none() -> None:
    worn = shown(held_up(damaged(code(ticket_text(), 5)), room(), (400, 150)))
    assert yellows(worn) > 200 > greens(worn)
    assert greens(shown(room())) + yellows(shown(room())) < 50


def test_nothing_is_made_while_nobody_looks() -> None:
    clock = Clock()
    viewfinder = Viewfinder(clock)
    viewfinder.show(SEEN, decode_still(SEEN))
    assert viewfinder.picture(-1, 0) is None
    viewfinder.show(SEEN, decode_still(SEEN))
    assert viewfinder.picture(-1, 0) is not None
    clock.pass_ms(2_500)
    assert not viewfinder.watched


def test_pictures_are_ten_a_second_however_many_look() -> None:
    clock, pictures = Clock(), set()
    viewfinder = Viewfinder(clock)
    viewfinder.picture(-1, 0)
    decoded = decode_still(SEEN)
    for _ in range(30):
        clock.pass_ms(33)
        viewfinder.show(SEEN, decoded)
        for _screen in range(3):
            picture = viewfinder.picture(-1, 0)
            assert picture is not None
            pictures.add(picture.number)
    assert 8 <= len(pictures) <= 10


def test_a_webcams_own_jpeg_is_shown_in_its_colours() -> None:
    red = np.zeros((480, 640, 3), np.uint8)
    red[..., 2] = 200
    sent = cv2.imencode(".jpg", red)[1].reshape(1, -1)
    assert abs(int(shown(np.asarray(sent, np.uint8))[100, 100, 2]) - 200) < 8
