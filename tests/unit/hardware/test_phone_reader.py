"""What a telephone sends: the newest frame counts, a photograph is read alone, and nothing of it can hurt the gate."""

from __future__ import annotations

import threading

import cv2
import pytest

from hardware.ports import DeviceError, Hint
from hardware.vision.phone_reader import MOST_PIXELS, SILENT_AFTER_NS, PhoneReader, jpeg_size
from tests.unit.hardware.images import Picture, blurred, code, held_up, room, ticket_text


class Clock:
    now = 0

    def __call__(self) -> int:
        return self.now


def jpeg(picture: Picture) -> bytes:
    return bytes(cv2.imencode(".jpg", picture)[1].tobytes())


def ticket(seed: int = 1) -> Picture:
    return held_up(code(ticket_text(seed), 4), room(640, 480), (20, 20))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def reader(clock: Clock) -> PhoneReader:
    return PhoneReader("phone 1", clock, wanted=lambda text: text.startswith("MAY1"))


def send(reader: PhoneReader, picture: bytes) -> threading.Thread:
    """From the network's thread, as telephones do: it waits until the frame is looked at."""
    sending = threading.Thread(target=reader.frame, args=(picture,))
    sending.start()
    return sending


def test_a_frame_is_read_by_the_gates_own_decoder(reader: PhoneReader) -> None:
    sending = send(reader, jpeg(ticket()))
    reading = reader.next(20)
    sending.join(20)
    assert reading is not None
    assert (reading.text, reading.reader) == (ticket_text(), "phone 1")


def test_the_newest_frame_wins_and_an_old_guest_is_not_read(reader: PhoneReader) -> None:
    first = send(reader, jpeg(ticket(1)))
    while reader._frames._newest is None:
        pass
    old = reader._frames._newest
    second = send(reader, jpeg(ticket(2)))
    while reader._frames._newest is old:
        pass
    reading = reader.next(20)
    for sending in (first, second):
        sending.join(20)
    assert reading is not None
    assert reading.text == ticket_text(2)
    assert reader.next(0) is None


def test_a_photograph_is_read_at_once_and_delivered(reader: PhoneReader) -> None:
    assert reader.photograph(jpeg(ticket())) is None
    reading = reader.next(0)
    assert reading is not None
    assert reading.text == ticket_text()


def test_two_tickets_in_one_photograph_admit_nobody(reader: PhoneReader) -> None:
    both = held_up(code(ticket_text(2), 3), held_up(code(ticket_text(1), 3), room(1280, 720), (60, 60)), (700, 60))
    assert reader.photograph(jpeg(both)) is Hint.ONE_AT_A_TIME
    assert reader.next(0) is None


def test_a_photograph_without_a_code_says_what_to_do(reader: PhoneReader) -> None:
    assert reader.photograph(jpeg(room(640, 480))) is Hint.NO_CODE
    assert reader.photograph(jpeg(blurred(ticket(), 9))) in {Hint.NO_CODE, Hint.HOLD_STILL}
    assert reader.next(0) is None


@pytest.mark.parametrize("content", [b"", b"GIF89a", b"\xff\xd8", b"\xff\xd8\xff\xe0\x00", jpeg(ticket())[:40]])
def test_what_is_no_picture_is_not_looked_at(reader: PhoneReader, content: bytes) -> None:
    assert not reader.frame(content)
    assert reader.photograph(content) is Hint.NO_CODE


def test_few_bytes_that_claim_a_huge_picture_are_not_unpacked(reader: PhoneReader) -> None:
    huge = bytearray(jpeg(ticket()))
    at = huge.index(b"\xff\xc0")
    huge[at + 5 : at + 9] = (60_000).to_bytes(2) * 2
    assert jpeg_size(bytes(huge)) == (60_000, 60_000)
    assert MOST_PIXELS < 60_000 * 60_000
    assert not reader.frame(bytes(huge))


def test_the_size_of_every_jpeg_of_ours_is_read() -> None:
    for width, height in ((640, 480), (1280, 720), (17, 1000)):
        assert jpeg_size(jpeg(room(width, height))) == (width, height)


def test_half_a_jpeg_is_passed_over_and_the_next_is_read(reader: PhoneReader) -> None:
    whole = jpeg(ticket())
    for content in (whole[:-4000], whole):
        sending = send(reader, content)
        reading = reader.next(20)
        sending.join(20)
    assert reading is not None


def test_a_telephone_that_is_silent_is_a_fault_until_it_is_heard_again(reader: PhoneReader, clock: Clock) -> None:
    assert reader.next(0) is None
    clock.now += SILENT_AFTER_NS + 1
    with pytest.raises(DeviceError, match="away"):
        reader.next(0)
    reader.sign()
    assert reader.next(0) is None


def test_nobody_waits_for_a_reader_that_is_closed(reader: PhoneReader) -> None:
    sending = send(reader, jpeg(ticket()))
    while reader._frames._newest is None:
        pass
    reader.close()
    sending.join(20)
    assert not sending.is_alive()
    assert reader.next(0) is None
    assert reader.ended
