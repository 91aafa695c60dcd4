"""Hand scanners as the kernel presents them: keys taken from the desktop, serial lines, cables pulled and put back."""

import fcntl
import os
import select
import shutil
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hardware.bursts import PAUSE_ENDS_SCAN_NS, PAUSE_IN_SCAN_NS, SCANNED_FROM, KeyBursts
from hardware.ports import DeviceError
from hardware.scanners import key_positions, usb_keys
from hardware.scanners.found import path_of
from hardware.scanners.scanner import Scanner
from hardware.scanners.serial_line import serial_scanner
from hardware.scanners.usb_keys import EV_KEY, EV_SYN, EVENT, SYN_DROPPED, KeysOfScanner, UsbScanner
from shared.layouts import normalise
from shared.tickets import is_whole
from tests.gate_builders import a_code, a_party_code
from tests.unit.hardware.images import ticket_text

TICKET = ticket_text(7)
NAME = "usb-ACME_Barcode_Scanner_0815-event-kbd"


def event(key: int, value: int, kind: int = EV_KEY) -> bytes:
    return EVENT.pack(0, 0, kind, key, value) + EVENT.pack(0, 0, EV_SYN, 0, 0)


def keys_for(text: str, layout: str = "us") -> bytes:
    """What a scanner that is set to a layout sends for a text."""
    plain = {typed: key for key, typed in key_positions.plain(layout).items() if key < 60}
    shifted = {typed: key for key, typed in key_positions.shifted(layout).items() if key < 60}
    sent = b""
    for character in text:
        if character in plain:
            sent += event(plain[character], 1) + event(plain[character], 0)
        else:
            key = shifted[character]
            sent += event(42, 1) + event(key, 1) + event(key, 0) + event(42, 0)
    return sent


def typed(sent: bytes, layout: str = "us") -> str:
    return KeysOfScanner(-1, layout).text(sent)


def read(scanner: Scanner) -> str:
    for _ in range(200):
        reading = scanner.next(0.05)
        if reading:
            return reading.text
    pytest.fail("the scanner delivered nothing")


class TestKeys:
    """What the keys of a scanner mean."""

    @pytest.mark.parametrize("layout", key_positions.LAYOUTS)
    def test_a_ticket_arrives_as_printed_whatever_keyboard_the_scanner_is_set_to(self, layout: str) -> None:
        assert typed(keys_for(TICKET, layout), layout) == TICKET

    def test_a_symbology_identifier_before_it_is_no_part_of_the_ticket(self) -> None:
        assert normalise(typed(keys_for(f"]Q3{TICKET}"))) == TICKET

    def test_a_german_scanner_at_a_gate_that_expects_an_american_one_is_understood_all_the_same(self) -> None:
        assert normalise(typed(keys_for(TICKET, "de"), "us")) == TICKET

    def test_caps_lock_that_is_on_changes_letters_and_leaves_digits(self) -> None:
        assert typed(event(58, 1) + event(58, 0) + keys_for("may1")) == "MAY1"

    def test_a_scanner_that_types_numbers_with_alt_is_understood(self) -> None:
        """Many scanners type so, to work on every keyboard: Alt down, 0 7 7 on the keypad, Alt up, is an M."""
        sent = b""
        for character in TICKET[:6]:
            sent += event(56, 1)
            for digit in f"{ord(character):04d}":
                key = next(key for key, shown in key_positions.DIGITS_OF_KEYPAD.items() if shown == digit)
                sent += event(key, 1) + event(key, 0)
            sent += event(56, 0)
        assert typed(sent) == TICKET[:6]

    def test_a_key_that_repeats_is_typed_once(self) -> None:
        assert typed(event(30, 1) + event(30, 2) * 5 + event(30, 0)) == "a"

    def test_half_an_event_waits_for_its_other_half(self) -> None:
        keys, sent = KeysOfScanner(-1), keys_for("MAY1")
        assert keys.text(sent[:37]) + keys.text(sent[37:]) == "MAY1"

    def test_a_code_of_which_keys_were_lost_is_no_ticket(self) -> None:
        """The kernel says that its buffer ran over, and the Shift that was held may have been released since."""
        sent = event(42, 1) + EVENT.pack(0, 0, EV_SYN, SYN_DROPPED, 0) + keys_for("may1")
        assert typed(sent) == "\N{REPLACEMENT CHARACTER}may1"


@dataclass
class Socket:
    """Where a scanner over USB is plugged in: the kernel's own records of keys, through a named pipe."""

    folder: Path
    grabbed: list[int] = field(default_factory=list)
    far: int = -1

    def plug_in(self, name: str = NAME) -> None:
        os.mkfifo(self.folder / name)

    def send(self, sent: bytes) -> None:
        if self.far < 0:
            (path,) = self.folder.iterdir()
            self.far = os.open(path, os.O_WRONLY)
            fcntl.fcntl(self.far, fcntl.F_SETPIPE_SZ, 1 << 20)  # nobody reads yet when three codes are sent
        os.write(self.far, sent)

    def unplug(self) -> None:
        for path in self.folder.iterdir():
            path.unlink()
        os.close(self.far)
        self.far = -1


@pytest.fixture
def socket(tmp_path: Path) -> Socket:
    made = Socket(tmp_path)
    made.plug_in()
    return made


@pytest.fixture
def usb(socket: Socket) -> Iterator[Scanner]:
    scanner = (
        UsbScanner("barcode", folder=socket.folder, grab=socket.grabbed.append).reader(time.monotonic_ns, "left").open()
    )
    yield scanner
    scanner.close()


class VirtualKeyboard:
    """A keyboard that the kernel makes for a program (linux/uinput.h)."""

    def __enter__(self) -> tuple[int, Path]:
        before = set(Path("/dev/input").glob("event*"))
        self._device = os.open("/dev/uinput", os.O_WRONLY | os.O_NONBLOCK)
        fcntl.ioctl(self._device, 0x40045564, EV_KEY)  # UI_SET_EVBIT
        for key in range(1, 128):
            fcntl.ioctl(self._device, 0x40045565, key)  # UI_SET_KEYBIT
        os.write(self._device, struct.pack("@80sHHHHI256i", b"Gatehouse test scanner", 3, 1, 1, 1, 0, *[0] * 256))
        fcntl.ioctl(self._device, 0x5501)  # UI_DEV_CREATE
        while not (new := set(Path("/dev/input").glob("event*")) - before):
            pass
        return self._device, new.pop()

    def __exit__(self, *_: object) -> None:
        os.close(self._device)


class TestUsb:
    """Scanners over USB. There is no /dev/uinput on every machine, so a pipe carries what the kernel would send."""

    def test_its_keys_are_taken_from_the_desktop_before_the_first_is_read(self, usb: Scanner, socket: Socket) -> None:
        assert len(socket.grabbed) == 1
        socket.send(keys_for(f"{TICKET}\r"))
        assert read(usb) == TICKET

    @pytest.mark.parametrize("end", ["\r", "\t", ""])
    def test_enter_tab_or_a_pause_end_a_code(self, usb: Scanner, socket: Socket, end: str) -> None:
        socket.send(keys_for(TICKET + end))
        assert read(usb) == TICKET

    def test_a_pulled_cable_is_a_fault_and_half_a_code_is_forgotten(self, usb: Scanner, socket: Socket) -> None:
        socket.send(keys_for(TICKET[:20]))
        assert usb.next(0.05) is None
        socket.unplug()
        with pytest.raises(DeviceError, match="unplugged"):
            usb.next(0.05)
        with pytest.raises(DeviceError, match="No scanner with “barcode” in its name"):
            usb.next(0.05)
        socket.plug_in()
        assert usb.next(0) is None
        socket.send(keys_for(f"{TICKET}\r"))
        assert read(usb) == TICKET
        assert len(socket.grabbed) == 2

    def test_a_scanner_that_another_program_holds_is_no_reader(self, socket: Socket) -> None:
        def held_by_another(descriptor: int) -> None:
            raise OSError(16, os.strerror(16))

        with pytest.raises(DeviceError, match="Stop the other program"):
            UsbScanner("", folder=socket.folder, grab=held_by_another).reader(time.monotonic_ns, "left").open()

    @pytest.mark.skipif(not Path("/dev/uinput").exists(), reason="this kernel makes no virtual keyboards")
    def test_a_virtual_keyboard_of_the_kernel(self) -> None:
        with VirtualKeyboard() as (device, path):
            scanner = UsbScanner(str(path)).reader(time.monotonic_ns).open()
            os.write(device, keys_for(f"{TICKET}\r"))
            assert read(scanner) == TICKET
            scanner.close()


@dataclass
class SerialCable:
    """A serial line with a scanner at the far end: a pseudo-terminal."""

    folder: Path
    far: int = -1
    near: str = ""

    def plug_in(self) -> None:
        self.far, near = os.openpty()
        self.near = os.ttyname(near)
        (self.folder / "usb-ACME_Serial_Scanner-if00").symlink_to(self.near)
        os.close(near)

    def unplug(self) -> None:
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        os.close(self.far)


@pytest.fixture
def cable(tmp_path: Path) -> SerialCable:
    made = SerialCable(tmp_path / "by-id")
    made.folder.mkdir()
    made.plug_in()
    return made


@pytest.fixture
def serial(cable: SerialCable) -> Iterator[Scanner]:
    scanner = serial_scanner("", 9600, time.monotonic_ns, "right", cable.folder).open()
    yield scanner
    scanner.close()


class TestSerial:
    """Scanners on serial lines."""

    @pytest.mark.parametrize("end", ["\r", "\n", "\r\n", "\x03", ""])
    def test_whatever_ends_a_code_it_is_read_once(self, serial: Scanner, cable: SerialCable, end: str) -> None:
        os.write(cable.far, (TICKET + end).encode())
        assert read(serial) == TICKET
        assert serial.next(0.3) is None

    def test_a_pulled_cable_is_a_fault_until_it_is_back(self, serial: Scanner, cable: SerialCable) -> None:
        cable.unplug()
        with pytest.raises(DeviceError, match="unplugged"):
            serial.next(0.05)
        cable.plug_in()
        assert serial.next(0) is None
        os.write(cable.far, f"{TICKET}\r".encode())
        assert read(serial) == TICKET

    def test_a_line_is_used_by_one_program_only(self, serial: Scanner, cable: SerialCable) -> None:
        """Root may open it all the same, so the kernel is asked (TIOCGEXCL) instead of opening it twice."""
        other = os.open(cable.near, os.O_RDWR | os.O_NOCTTY)
        taken = struct.unpack("i", fcntl.ioctl(other, 0x80045440, bytes(4)))
        os.close(other)
        assert taken == (1,)
        assert serial.next(0) is None

    def test_nothing_is_sent_back_to_the_scanner(self, serial: Scanner, cable: SerialCable) -> None:
        os.write(cable.far, f"{TICKET}\r".encode())
        assert read(serial) == TICKET
        assert select.select([cable.far], [], [], 0)[0] == []

    def test_a_file_is_no_serial_line(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("")
        with pytest.raises(DeviceError, match="is not a serial port"):
            serial_scanner(str(tmp_path / "notes.txt"), 9600, time.monotonic_ns).open()


class TestPauses:
    """A scanner shows by itself whether it ends its codes with Enter."""

    def test_half_a_code_and_then_the_rest_is_one_code_once_it_has_sent_enter(self) -> None:
        bursts = KeyBursts.of_scanner()
        assert list(bursts.keys("FIRST\r", 0)) == ["FIRST"]
        assert list(bursts.keys(TICKET[:50], 10)) == []
        assert bursts.pause(10 + PAUSE_ENDS_SCAN_NS) is None
        assert list(bursts.keys(f"{TICKET[50:]}\r", 10 + PAUSE_IN_SCAN_NS - 1)) == [TICKET]

    def test_one_that_stops_sending_enter_is_still_read(self) -> None:
        bursts = KeyBursts.of_scanner()
        assert list(bursts.keys("FIRST\rSECOND", 0)) == ["FIRST"]
        assert bursts.pause(PAUSE_IN_SCAN_NS) == "SECOND"

    def test_one_that_stops_sending_enter_loses_no_code_to_the_next(self) -> None:
        bursts = KeyBursts.of_scanner(is_whole)
        first, next_one, gap = a_code(1), a_party_code(2, 3), PAUSE_ENDS_SCAN_NS
        assert list(bursts.keys(f"{TICKET}\r{first}", 0)) == [TICKET]
        assert list(bursts.keys(next_one, gap)) == [first], "a guest behind, long before 1.5 s are over"
        assert (bursts.pause(2 * gap - 1), bursts.pause(2 * gap)) == (None, next_one)
        assert list(bursts.keys("\r", 3 * gap)) == [], "an Enter that comes late is no code"

    def test_half_a_code_is_waited_for_wherever_it_is_cut(self) -> None:
        for code in (a_code(1), a_party_code(2, 3)):
            for cut in range(SCANNED_FROM, len(code)):
                bursts = KeyBursts.of_scanner(is_whole)
                assert list(bursts.keys(f"FIRST\r{code[:cut]}", 0)) == ["FIRST"]
                assert list(bursts.keys(f"{code[cut:]}\r", PAUSE_IN_SCAN_NS - 1)) == [code]

    def test_a_gate_that_was_busy_does_not_take_its_own_absence_for_a_pause(self) -> None:
        bursts = KeyBursts.of_scanner()
        assert list(bursts.keys(TICKET[:50], 0)) == []
        bursts.away(PAUSE_IN_SCAN_NS)
        assert bursts.pause(PAUSE_IN_SCAN_NS) is None


class TestWhichScanner:
    """Names stay; numbers and sockets do not."""

    def test_part_of_the_name_is_enough(self, tmp_path: Path) -> None:
        assert path_of("acme", tmp_path, [NAME], "left") == tmp_path / NAME

    @pytest.mark.parametrize(
        ("source", "known", "says"),
        [
            ("", [NAME, "usb-Other-event-kbd"], "Several scanners could be meant"),
            ("zebra", [NAME], "No scanner with “zebra” in its name is connected; connected: usb-ACME"),
            ("", [], "No scanner is connected; connected: none"),
            ("/dev/input/by-path/nowhere", [], "There is no /dev/input/by-path/nowhere"),
        ],
    )
    def test_what_is_missing_or_unclear_is_said_with_what_there_is(
        self, tmp_path: Path, source: str, known: list[str], says: str
    ) -> None:
        with pytest.raises(DeviceError, match=says) as raised:
            path_of(source, tmp_path, known, "left")
        assert raised.value.remedy


def test_events_are_as_long_as_the_kernel_makes_them() -> None:
    assert EVENT.size == struct.calcsize("@qqHHi") == 24
    assert usb_keys.EVENT.unpack(event(30, 1)[:24])[2:] == (EV_KEY, 30, 1)
