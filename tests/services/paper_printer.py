"""The other side of a printer's line: understands ZPL and ESC/POS byte by byte, and keeps what would be on paper."""

from __future__ import annotations

import os
import re
import select
import socket
import threading
import tty
from collections.abc import Callable
from dataclasses import dataclass, field

from shared.badges.sheets import Dots

_LABEL = re.compile(rb"\^XA(.*?)\^XZ", re.DOTALL)
_GRAPHIC = re.compile(rb"\^PW(\d+)\^LL(\d+).*\^GFA,(\d+),(\d+),(\d+),([^\^]*)\^FS", re.DOTALL)


@dataclass
class PaperPrinter:
    """A printer with paper in it; its lid, its paper and its voice can be taken away."""

    paper: bool = True
    closed: bool = True
    paused: bool = False
    silent: bool = False
    sheets_left: int = 10_000
    printed: list[Dots] = field(default_factory=list)
    cuts: int = 0
    _buffer: bytes = b""

    def takes(self, data: bytes) -> bytes:
        """What it answers to these bytes."""
        self._buffer += data
        answer = self._zpl() if b"~HS" in self._buffer or b"^XA" in self._buffer else self._escpos()
        return b"" if self.silent else answer

    @property
    def ready(self) -> bool:
        return self.paper and self.closed and not self.paused

    def _print(self, sheet: Dots) -> None:
        self.printed.append(sheet)
        self.sheets_left -= 1
        self.paper = self.paper and self.sheets_left > 0

    def _zpl(self) -> bytes:
        answer = b""
        while True:
            label, asked = _LABEL.search(self._buffer), self._buffer.find(b"~HS")
            if label and (asked < 0 or label.start() < asked):
                if self.ready:
                    self._print(graphic_of(label[1]))
                self._buffer = self._buffer[label.end() :]
            elif asked >= 0 and b"^XA" not in self._buffer[:asked]:
                answer += self._host_status()
                self._buffer = self._buffer[asked + 3 :]
            else:
                return answer

    def _host_status(self) -> bytes:
        first = f"030,{int(not self.paper)},{int(self.paused)},1245,000,0,0,0,000,0,0,0"
        second = f"000,0,{int(not self.closed)},0,0,2,4,0,00000000,1,000"
        return b"".join(b"\x02" + line.encode() + b"\x03\r\n" for line in (first, second, "1234,0"))

    def _escpos(self) -> bytes:
        answer = b""
        while self._buffer and (taken := self._escpos_command()) is not None:
            length, said = taken
            self._buffer, answer = self._buffer[length:], answer + said
        return answer

    def _escpos_command(self) -> tuple[int, bytes] | None:
        """How many bytes the next command has and what is answered; None until it is complete."""
        data = self._buffer
        if data[:2] == b"\x10\x04":
            return (3, bytes([self._state(data[2])])) if len(data) > 2 else None
        if data[:4] == b"\x1dv0\x00":
            if len(data) < 8:
                return None
            across, rows = int.from_bytes(data[4:6], "little"), int.from_bytes(data[6:8], "little")
            length = 8 + across * rows
            if len(data) < length:
                return None
            self._bands.append((across, data[8:length]))
            return length, b""
        known = {b"\x1b@": 2, b"\x1bJ": 3, b"\x1dV": 4, b"\x1dr": 3}
        if len(data) < 2:
            return None
        length = known[data[:2]]
        if len(data) < length:
            return None
        if data[:2] == b"\x1bJ":
            self._feed()
        self.cuts += data[:2] == b"\x1dV"
        in_turn = data[:2] == b"\x1dr"
        return length, b"\x00" if in_turn and self.ready else b""

    _bands: list[tuple[int, bytes]] = field(default_factory=list)

    def _feed(self) -> None:
        if self._bands and self.ready:
            across = self._bands[0][0]
            rows = b"".join(band for _, band in self._bands)
            self._print(Dots(across * 8, len(rows) // across, rows))
        self._bands.clear()

    def _state(self, request: int) -> int:
        if request == 1:
            return 0x12 | (0 if self.ready else 0x08)
        if request == 2:
            return 0x12 | (0 if self.closed else 0x04) | (0 if self.paper else 0x20)
        return 0x12 | (0 if self.paper else 0x60)


def graphic_of(label: bytes) -> Dots:
    """The picture of a label, written as hexadecimal digits with counts (as the language's manual describes them)."""
    found = _GRAPHIC.search(label)
    assert found, label[:80]
    width, height, total, across = int(found[1]), int(found[2]), int(found[3]), int(found[5])
    rows: list[str] = []
    row, count = "", 0
    for letter in found[6].decode():
        if "G" <= letter <= "Y":
            count += ord(letter) - ord("F")
        elif "g" <= letter <= "z":
            count += (ord(letter) - ord("f")) * 20
        elif letter == ":":
            rows.append(rows[-1])
        elif letter in ",!":
            rows.append(row.ljust(across * 2, "0" if letter == "," else "F"))
            row = ""
        else:
            row, count = row + letter * (count or 1), 0
            if len(row) == across * 2:
                rows.append(row)
                row = ""
    picture = bytes.fromhex("".join(rows))
    assert len(picture) == total == across * height
    return Dots(width, height, picture)


class Cable:
    """A printer at a pseudo-terminal or a TCP port of this machine, until it is pulled out."""

    def __init__(self, printer: PaperPrinter) -> None:
        self.printer = printer
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def terminal(self) -> str:
        """The path of a serial line to it."""
        near, far = os.openpty()
        tty.setraw(far)
        self._start(lambda: self._serve(near))
        self._far = far
        return os.ttyname(far)

    def port(self) -> str:
        """The address of it."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._start(self._accept)
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(10)

    def _start(self, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with self._listener:
            while self._comes(self._listener.fileno()):
                connection, _ = self._listener.accept()
                with connection:
                    self._serve(connection.fileno())

    def _serve(self, descriptor: int) -> None:
        while self._comes(descriptor):
            try:
                data = os.read(descriptor, 65536)
            except OSError:
                return
            if not data:
                return
            if answer := self.printer.takes(data):
                os.write(descriptor, answer)

    def _comes(self, descriptor: int) -> bool:
        """Whether something comes; what was sent before the cable is pulled still arrives."""
        while not select.select([descriptor], [], [], 0.05)[0]:
            if self._stop.is_set():
                return False
        return True
