"""The loop at a reader: faults are reported once, and reading continues."""

import threading

from hardware.fakes import FakeReader
from hardware.ports import DeviceError, Reading
from hardware.reading import readings

FaultLog = list[DeviceError | None]


class FlakyReader(FakeReader):
    """Fails with the given faults, then works."""

    def __init__(self, *faults: str) -> None:
        super().__init__(lambda: 0)
        self._faults = list(faults)

    def next(self, timeout_s: float) -> Reading | None:
        if self._faults:
            raise DeviceError(self.name, self._faults.pop(0), "Look.")
        return super().next(timeout_s)


def test_a_fault_is_reported_once_and_its_end_too() -> None:
    reader, faults = FlakyReader("Gone.", "Gone."), FaultLog()
    reader.scan("A")
    reader.end()
    texts = [reading.text for reading in readings(reader, threading.Event(), faults.append)]
    assert texts == ["A"]
    assert [fault and fault.happened for fault in faults[:2]] == ["Gone.", None]


def test_another_fault_is_reported_anew() -> None:
    reader, faults = FlakyReader("Gone.", "Dark."), FaultLog()
    reader.end()
    list(readings(reader, threading.Event(), faults.append))
    assert [fault.happened for fault in faults[:2] if fault] == ["Gone.", "Dark."]


def test_an_input_that_ends_is_reported_because_the_reader_has_stopped() -> None:
    reader, faults = FakeReader(lambda: 0), FaultLog()
    reader.end()
    assert list(readings(reader, threading.Event(), faults.append)) == []
    assert [fault.happened for fault in faults if fault] == ["Its input has ended; it reads no more codes."]


def test_stopping_ends_the_loop_although_codes_are_waiting() -> None:
    reader, stop = FakeReader(lambda: 0), threading.Event()
    reader.scan("A")
    reader.scan("B")
    taken, faults = [], FaultLog()
    for reading in readings(reader, stop, faults.append):
        taken.append(reading.text)
        stop.set()
    assert taken == ["A"]
    assert faults == []
