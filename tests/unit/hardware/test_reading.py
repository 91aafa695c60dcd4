"""The loop at a reader: faults are told once, and the gate reads on."""

import threading

from hardware.fakes import FakeReader
from hardware.ports import DeviceError, Reading
from hardware.reading import readings

Told = list[DeviceError | None]


class FlakyReader(FakeReader):
    """Fails as often as it is told, then reads on."""

    def __init__(self, *faults: str) -> None:
        super().__init__(lambda: 0)
        self._faults = list(faults)

    def next(self, timeout_s: float) -> Reading | None:
        if self._faults:
            raise DeviceError(self.name, self._faults.pop(0), "Look.")
        return super().next(timeout_s)


def test_a_fault_is_told_once_and_its_end_too() -> None:
    reader, told = FlakyReader("Gone.", "Gone."), Told()
    reader.scan("A")
    reader.end()
    texts = [reading.text for reading in readings(reader, threading.Event(), told.append)]
    assert texts == ["A"]
    assert [fault and fault.happened for fault in told[:2]] == ["Gone.", None]


def test_another_fault_is_told_anew() -> None:
    reader, told = FlakyReader("Gone.", "Dark."), Told()
    reader.end()
    list(readings(reader, threading.Event(), told.append))
    assert [fault.happened for fault in told[:2] if fault] == ["Gone.", "Dark."]


def test_an_input_that_ends_is_told_because_the_door_is_deaf_from_now_on() -> None:
    reader, told = FakeReader(lambda: 0), Told()
    reader.end()
    assert list(readings(reader, threading.Event(), told.append)) == []
    assert [fault.happened for fault in told if fault] == ["Its input has ended: it reads no more codes."]


def test_stopping_ends_the_loop_although_codes_are_waiting() -> None:
    reader, stop = FakeReader(lambda: 0), threading.Event()
    reader.scan("A")
    reader.scan("B")
    taken, told = [], Told()
    for reading in readings(reader, stop, told.append):
        taken.append(reading.text)
        stop.set()
    assert taken == ["A"]
    assert told == []
