"""Printers that take ZPL or ESC/POS over a line, which is opened for each page: so they can come and go."""

from collections.abc import Callable
from contextlib import closing
from typing import Final, Protocol

from hardware.ports import MonotonicNs, PrinterError, Sheet
from hardware.printers import escpos, zpl
from hardware.printers.faults import no_answer, unplugged
from hardware.printers.lines import Dial, Line

ANSWER_S: Final = 2.0
PRINTED_S: Final = 30.0
"""A wristband takes five seconds; slow serial lines take longer."""
PAUSE_S: Final = 0.2


class Language(Protocol):
    """A language of printers: how a page is written in it, and how the printer is asked."""

    def encode(self, sheet: Sheet) -> bytes: ...

    def ask(self, line: Line) -> PrinterError | None:
        """What keeps it from printing, if anything does."""
        ...

    def printed(self, line: Line) -> bool:
        """Whether all that was sent is on paper, as far as the printer says within a moment."""
        ...


class LinePrinter:
    """A Printer that asks the device how it is before a page, and until it is printed."""

    def __init__(
        self, dial: Dial, language: Language, monotonic_ns: MonotonicNs, name: str, *, answers: bool = True
    ) -> None:
        """`answers`: whether the device says how it is when asked."""
        self.name = name
        self._dial, self._language = dial, language
        self._monotonic_ns, self._answers = monotonic_ns, answers
        self._closed = False

    def check(self) -> None:
        with closing(self._open()) as line:
            self._ask(line)

    def print_sheet(self, sheet: Sheet) -> None:
        with closing(self._open()) as line:
            self._ask(line)
            line.write(self._language.encode(sheet))
            try:
                self._await(line)
            except PrinterError as why:
                raise PrinterError(why.device, why.kind, why.happened, why.remedy, begun=True) from why

    def close(self) -> None:
        self._closed = True

    def _open(self) -> Line:
        if self._closed:
            raise unplugged(self.name)
        return self._dial()

    def _ask(self, line: Line) -> None:
        if self._answers and (fault := self._language.ask(line)) is not None:
            raise fault

    def _await(self, line: Line) -> None:
        until = self._monotonic_ns() + int(PRINTED_S * 1e9)
        while self._answers and not self._language.printed(line):
            self._ask(line)
            if self._monotonic_ns() > until:
                raise no_answer(self.name)


class Zpl:
    """The language of printers of labels and wristbands."""

    def __init__(self, name: str, monotonic_ns: MonotonicNs) -> None:
        self._name, self._monotonic_ns = name, monotonic_ns

    def encode(self, sheet: Sheet) -> bytes:
        return zpl.encode(sheet)

    def ask(self, line: Line) -> PrinterError | None:
        answer = self._status(line)
        return zpl.fault_in(answer, self._name) if zpl.complete(answer) else no_answer(self._name)

    def printed(self, line: Line) -> bool:
        answer = self._status(line)
        if not zpl.complete(answer) or zpl.fault_in(answer, self._name) is not None:
            return False
        if zpl.busy(answer):
            line.read(PAUSE_S)  # it says nothing unasked: a pause until it is asked again
            return False
        return True

    def _status(self, line: Line) -> bytes:
        line.write(zpl.ASK)
        return _read(line, self._monotonic_ns, ANSWER_S, zpl.complete)


class EscPos:
    """The language of receipt printers."""

    def __init__(self, name: str, monotonic_ns: MonotonicNs, *, cut: bool = True) -> None:
        self._name, self._monotonic_ns, self._cut = name, monotonic_ns, cut

    def encode(self, sheet: Sheet) -> bytes:
        return escpos.encode(sheet, cut=self._cut)

    def ask(self, line: Line) -> PrinterError | None:
        answers = []
        for request in (escpos.ASK_PRINTER, escpos.ASK_OFFLINE, escpos.ASK_PAPER):
            line.write(request)
            answer = _read(line, self._monotonic_ns, ANSWER_S, bool)
            if not answer:
                return no_answer(self._name)
            answers.append(answer[-1])
        return escpos.fault_in(answers[0], answers[1], answers[2], self._name)

    def printed(self, line: Line) -> bool:
        line.write(escpos.ASK_IN_TURN)
        return bool(_read(line, self._monotonic_ns, ANSWER_S, bool))


def _read(line: Line, monotonic_ns: MonotonicNs, within_s: float, complete: Callable[[bytes], bool]) -> bytes:
    """What comes until it is complete, or until the time for an answer is over."""
    answer, until = b"", monotonic_ns() + int(within_s * 1e9)
    while not complete(answer) and (left := until - monotonic_ns()) > 0:
        answer += line.read(left / 1e9)
    return answer
