"""Codes that arrive as text, from pipes, terminals and wedge scanners."""

import os
import pty
import termios
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from hardware.bursts import KeyBursts
from hardware.keyboard import KeyboardReader
from hardware.ports import DeviceError
from tests.unit.hardware.images import ticket_text

TICKET = ticket_text()
MS = 1_000_000


@dataclass
class Keys:
    """The far end of a keyboard, and the clock."""

    near: int
    far: int
    now_ns: int = 0

    def reader(self) -> KeyboardReader:
        return KeyboardReader(self.near, lambda: self.now_ns).open()

    def type(self, text: str | bytes) -> None:
        os.write(self.far, text.encode() if isinstance(text, str) else text)


@pytest.fixture
def pipe() -> Iterator[Keys]:
    near, far = os.pipe()
    yield Keys(near, far)
    os.close(near)


@pytest.fixture
def terminal() -> Iterator[Keys]:
    far, near = pty.openpty()
    yield Keys(near, far)
    os.close(near)
    os.close(far)


def read(reader: KeyboardReader) -> str | None:
    reading = reader.next(0.5)
    return reading.text if reading else None


def test_a_line_is_a_code(pipe: Keys) -> None:
    reader = pipe.reader()
    pipe.type(f"{TICKET}\nABCD\r\nEFGH\n")
    assert [read(reader) for _ in range(3)] == [TICKET, "ABCD", "EFGH"]


def test_a_code_that_arrives_in_pieces_is_one_code(pipe: Keys) -> None:
    reader = pipe.reader()
    pipe.type(TICKET[:50])
    assert read(reader) is None
    pipe.type(TICKET[50:] + "\n")
    assert read(reader) == TICKET


def test_the_last_line_needs_no_line_end_and_then_it_is_over(pipe: Keys) -> None:
    reader = pipe.reader()
    pipe.type("ABCD\nEF")
    os.close(pipe.far)
    assert drained(reader) == ["ABCD", "EF"]


def drained(reader: KeyboardReader) -> list[str]:
    texts = []
    while not reader.ended:
        reading = reader.next(0.5)
        if reading:
            texts.append(reading.text)
    return texts


def test_a_slow_pipe_is_not_cut_by_a_pause(pipe: Keys) -> None:
    reader = pipe.reader()
    pipe.type(TICKET[:100])
    assert read(reader) is None
    pipe.now_ns += 5_000 * MS
    assert read(reader) is None
    pipe.type(TICKET[100:] + "\n")
    assert read(reader) == TICKET


def test_bytes_that_are_no_text_do_no_harm(pipe: Keys) -> None:
    reader = pipe.reader()
    pipe.type(b"\xff\xfe\x00\xc3\n")
    assert read(reader) == "\ufffd\ufffd\x00\ufffd"


def test_a_flood_without_line_ends_comes_in_bounded_portions(pipe: Keys) -> None:
    reader = pipe.reader()
    pipe.type("A" * 20_000)
    os.close(pipe.far)
    assert [len(text) for text in drained(reader)] == [8_192, 8_192, 3_616]


def test_a_scanner_without_an_enter_key_is_read_at_a_terminal(terminal: Keys) -> None:
    reader = terminal.reader()
    terminal.type(TICKET)
    assert read(reader) is None
    terminal.now_ns += 100 * MS
    assert read(reader) == TICKET
    reader.close()


def test_a_terminal_does_not_show_codes_and_is_given_back_as_it_was(terminal: Keys) -> None:
    before = termios.tcgetattr(terminal.near)
    reader = terminal.reader()
    assert not termios.tcgetattr(terminal.near)[3] & termios.ECHO
    reader.close()
    reader.close()
    assert termios.tcgetattr(terminal.near) == before


def test_a_terminal_that_was_closed_meanwhile_is_fine_at_the_end() -> None:
    far, near = pty.openpty()
    reader = KeyboardReader(near, lambda: 0).open()
    os.close(near)
    os.close(far)
    with pytest.raises(DeviceError, match="can no longer be read"):
        reader.next(0)
    reader.close()


def test_a_terminal_that_refuses_is_reported_clearly(terminal: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object) -> None:
        raise termios.error(4, "Interrupted system call")

    monkeypatch.setattr(termios, "tcsetattr", refuse)
    with pytest.raises(DeviceError, match="in the background"):
        terminal.reader()


def test_ctrl_d_at_a_terminal_ends_the_input(terminal: Keys) -> None:
    reader = terminal.reader()
    terminal.type("ABCD\x04")
    assert drained(reader) == ["ABCD"]
    assert reader.ended
    reader.close()


class TestBursts:
    """Single keys and their times."""

    def test_a_mistyped_key_can_be_taken_back(self) -> None:
        assert list(KeyBursts().keys("ABX\x7fC\n", 0)) == ["ABC"]

    def test_empty_lines_are_nothing(self) -> None:
        assert list(KeyBursts().keys("\n\r\n\t", 0)) == []

    def test_somebody_typing_slowly_is_not_cut_short(self) -> None:
        bursts = KeyBursts()
        codes = [code for n, key in enumerate("ABCD2345\n") for code in bursts.keys(key, n * 700 * MS)]
        assert codes == ["ABCD2345"]

    def test_what_was_left_half_typed_is_not_glued_to_the_next_code(self) -> None:
        bursts = KeyBursts()
        assert list(bursts.keys("ABC", 0)) == []
        assert list(bursts.keys("MAY1XYZ\n", 11_000 * MS)) == ["MAY1XYZ"]

    def test_two_scans_without_enter_are_parted_by_their_pause(self) -> None:
        bursts = KeyBursts()
        assert list(bursts.keys(TICKET, 0)) == []
        assert list(bursts.keys(TICKET[::-1], 120 * MS)) == [TICKET]
        assert bursts.pause(300 * MS) == TICKET[::-1]

    def test_keys_of_one_scan_stay_together(self) -> None:
        bursts = KeyBursts()
        for n, key in enumerate(TICKET):
            assert list(bursts.keys(key, n * 15 * MS)) == []
        assert bursts.pause(len(TICKET) * 15 * MS + 80 * MS) == TICKET
