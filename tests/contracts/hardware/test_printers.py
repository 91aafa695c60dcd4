"""What every printer promises: fake, label and receipt printers on lines pass the same tests; CUPS has its own."""

from __future__ import annotations

import io
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cairocffi
import pytest

from hardware.fakes import FakePrinter
from hardware.ports import Printer, PrinterError, PrinterFault, Sheet
from hardware.printers.opening import PRINTERS, PrinterOptions, open_printer
from shared.badges import ready_made
from shared.badges.sheets import Dots, dots_of, pdf_of
from tests.services.cups_server import CupsServer
from tests.services.optional_services import start_or_fail
from tests.services.paper_printer import Cable, PaperPrinter
from tests.unit.hardware.images import ticket_text

LAYOUT = ready_made.layout_of("badge")


def a_sheet(name: str = "Zoë Müller", code: str = "") -> Sheet:
    words = {"name": name, "type": "Crew", "number": "FEST-000007", "code": code or ticket_text(7)}
    dots = dots_of(LAYOUT, words, 203)
    pdf = pdf_of([(LAYOUT, words)], "Badge")
    return Sheet(dots.width, dots.height, dots.rows, pdf, LAYOUT.width_mm, LAYOUT.height_mm)


def as_png(dots: Dots) -> bytes:
    """The picture on the paper, with the white of the paper around it."""
    surface = cairocffi.ImageSurface(cairocffi.FORMAT_RGB24, dots.width, dots.height)
    stride, across = surface.get_stride(), (dots.width + 7) // 8
    for y in range(dots.height):
        bits = "".join(f"{byte:08b}" for byte in dots.rows[y * across : (y + 1) * across])[: dots.width]
        row = b"".join(b"\x00\x00\x00\xff" if bit == "1" else b"\xff\xff\xff\xff" for bit in bits)
        surface.get_data()[y * stride : y * stride + len(row)] = row
    out = io.BytesIO()
    surface.write_to_png(out)
    return out.getvalue()


def code_on(dots: Dots, folder: Path) -> str:
    """What the gate's own decoder reads from the paper."""
    from hardware.devices import decode_image

    path = folder / "paper.png"
    path.write_bytes(as_png(dots))
    return decode_image(path).found[0].text


@dataclass
class Stand:
    """A printer with its paper, and what can happen to it."""

    printer: Printer
    run_out_of_paper: Callable[[], None]
    load_paper: Callable[[], None]
    count: Callable[[], int]
    close: Callable[[], None]


def fake(_folder: Path) -> Stand:
    printer = FakePrinter()
    return Stand(printer, printer.run_out_of_paper, printer.recover, lambda: len(printer.sheets), lambda: None)


def on_a_line(kind: str, at: Callable[[Cable], str]) -> Callable[[Path], Stand]:
    def stand(_folder: Path) -> Stand:
        paper = PaperPrinter()
        cable = Cable(paper)
        printer = open_printer(PrinterOptions(kind, at(cable), baud=115200), time.monotonic_ns, threading.Event())
        return Stand(
            printer,
            lambda: setattr(paper, "paper", False),
            lambda: setattr(paper, "paper", True),
            lambda: len(paper.printed),
            cable.close,
        )

    return stand


STANDS: dict[str, Callable[[Path], Stand]] = {
    "fake": fake,
    "zpl at an address": on_a_line("zpl", Cable.port),
    "zpl on a serial line": on_a_line("zpl", Cable.terminal),
    "escpos at an address": on_a_line("escpos", Cable.port),
    "escpos on a serial line": on_a_line("escpos", Cable.terminal),
}


@pytest.fixture(params=STANDS)
def stand(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stand]:
    made = STANDS[request.param](tmp_path)
    yield made
    made.printer.close()
    made.close()


def test_every_sheet_is_printed_once(stand: Stand) -> None:
    assert isinstance(stand.printer, Printer)
    stand.printer.check()
    stand.printer.print_sheet(a_sheet())
    stand.printer.print_sheet(a_sheet("Ada"))
    assert stand.count() == 2


def test_without_paper_nothing_is_printed_and_it_recovers_by_itself(stand: Stand) -> None:
    stand.run_out_of_paper()
    for act in (stand.printer.check, lambda: stand.printer.print_sheet(a_sheet())):
        with pytest.raises(PrinterError, match="no paper") as fault:
            act()
        assert (fault.value.kind, fault.value.begun) == (PrinterFault.NO_PAPER, False)
        assert fault.value.remedy
    stand.load_paper()
    stand.printer.print_sheet(a_sheet())
    assert stand.count() == 1


def test_it_can_be_closed_twice_and_prints_nothing_then(stand: Stand) -> None:
    stand.printer.close()
    stand.printer.close()
    with pytest.raises(PrinterError) as fault:
        stand.printer.print_sheet(a_sheet())
    assert fault.value.kind is PrinterFault.UNPLUGGED
    assert stand.count() == 0


def test_every_kind_of_printer_is_tried() -> None:
    assert {name.split()[0] for name in STANDS} | {"cups"} == set(PRINTERS)


@pytest.mark.parametrize("kind", ["zpl", "escpos"])
class TestPaper:
    @pytest.fixture
    def paper(self) -> PaperPrinter:
        return PaperPrinter()

    @pytest.fixture
    def printer(self, kind: str, paper: PaperPrinter) -> Iterator[Printer]:
        cable = Cable(paper)
        opened = open_printer(PrinterOptions(kind, cable.port()), time.monotonic_ns, threading.Event())
        yield opened
        cable.close()

    def test_the_picture_on_the_paper_is_the_one_of_the_preview(
        self, printer: Printer, paper: PaperPrinter, tmp_path: Path
    ) -> None:
        sheet = a_sheet("محمد 李 Zoë", ticket_text(3))
        printer.print_sheet(sheet)
        (printed,) = paper.printed
        across = sheet.bytes_a_row
        assert printed.rows == sheet.rows
        assert len(printed.rows) == across * printed.height
        assert code_on(printed, tmp_path) == ticket_text(3)

    def test_paper_that_ends_in_the_middle_leaves_it_to_people(
        self, printer: Printer, paper: PaperPrinter, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("hardware.printers.label_printers.ANSWER_S", 0.2)
        paper.sheets_left = 1
        with pytest.raises(PrinterError, match="no paper") as fault:
            printer.print_sheet(a_sheet())
        assert fault.value.begun

    def test_an_open_lid(self, printer: Printer, paper: PaperPrinter) -> None:
        paper.closed = False
        with pytest.raises(PrinterError, match="is open") as fault:
            printer.check()
        assert fault.value.kind is PrinterFault.OPEN

    def test_a_pause(self, printer: Printer, paper: PaperPrinter) -> None:
        paper.paused = True
        with pytest.raises(PrinterError, match="paused"):
            printer.check()

    def test_one_that_says_nothing_may_be_told_not_to_be_asked(
        self, kind: str, paper: PaperPrinter, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("hardware.printers.label_printers.ANSWER_S", 0.05)
        paper.silent = True
        cable = Cable(paper)
        at = cable.port()
        asked = open_printer(PrinterOptions(kind, at), time.monotonic_ns, threading.Event())
        with pytest.raises(PrinterError, match="answers = false") as fault:
            asked.print_sheet(a_sheet())
        assert (fault.value.kind, fault.value.begun) == (PrinterFault.NO_ANSWER, False)
        open_printer(PrinterOptions(kind, at, answers=False), time.monotonic_ns, threading.Event()).print_sheet(
            a_sheet()
        )
        cable.close()
        assert len(paper.printed) == 1

    def test_one_that_is_switched_off(self, kind: str) -> None:
        off = open_printer(PrinterOptions(kind, "127.0.0.1:9"), time.monotonic_ns, threading.Event())
        with pytest.raises(PrinterError, match="not there") as fault:
            off.check()
        assert fault.value.kind is PrinterFault.UNPLUGGED


def test_a_receipt_is_cut_if_the_printer_has_a_knife() -> None:
    for cut in (True, False):
        paper = PaperPrinter()
        cable = Cable(paper)
        options = PrinterOptions("escpos", cable.port(), cut=cut)
        open_printer(options, time.monotonic_ns, threading.Event()).print_sheet(a_sheet())
        cable.close()
        assert paper.cuts == int(cut)


@pytest.fixture(scope="module")
def server() -> Iterator[CupsServer]:
    started = start_or_fail("cups", lambda: CupsServer(Path(tempfile.mkdtemp(prefix="gatehouse-cups-"))))
    yield started
    started.close()


class TestCups:
    @pytest.fixture
    def printer(self, server: CupsServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Printer]:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield open_printer(PrinterOptions("cups", "badges"), time.monotonic_ns, threading.Event())
        print(server.log())  # pytest shows it where the test failed

    def test_the_page_comes_out_as_it_was_drawn(self, server: CupsServer, printer: Printer) -> None:
        before, sheet = len(server.pages()), a_sheet()
        printer.check()
        printer.print_sheet(sheet)
        assert server.pages()[before:] == [sheet.pdf]

    def test_without_paper_the_system_keeps_the_page_and_prints_it_once(
        self, server: CupsServer, printer: Printer
    ) -> None:
        before = len(server.pages())
        server.run_out_of_paper()
        with pytest.raises(PrinterError, match="no paper") as fault:
            printer.print_sheet(a_sheet())
        assert fault.value.kept
        with pytest.raises(PrinterError, match="no paper"):
            printer.check()
        server.go_on(before + 1)
        printer.print_sheet(a_sheet("the next"))
        assert len(server.pages()) == before + 2

    def test_a_queue_that_was_stopped(self, server: CupsServer, printer: Printer) -> None:
        server.run("cupsdisable", "badges")
        with pytest.raises(PrinterError, match="cupsenable badges") as fault:
            printer.print_sheet(a_sheet())
        assert fault.value.kind is PrinterFault.PAUSED
        server.run("cupsenable", "badges")
        printer.check()

    def test_a_queue_that_is_not_there(self, server: CupsServer, printer: Printer) -> None:
        other = open_printer(PrinterOptions("cups", "elsewhere"), time.monotonic_ns, threading.Event())
        with pytest.raises(PrinterError, match="no queue elsewhere") as fault:
            other.check()
        assert fault.value.kind is PrinterFault.NO_QUEUE


def test_a_machine_without_cups(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    printer = open_printer(PrinterOptions("cups", "badges"), time.monotonic_ns, threading.Event())
    with pytest.raises(PrinterError, match="apt install cups") as fault:
        printer.check()
    assert fault.value.kind is PrinterFault.NO_QUEUE
