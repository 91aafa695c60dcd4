"""Badges at a gate: one for each guest, whatever printer, power and paper do, and never before the lamp."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from gate_app.badges.due import is_due
from gate_app.badges.queue import TOO_LATE_MS, BadgeQueue
from gate_app.badges.records import Records, State
from gate_app.installation.config import PrinterSettings
from gate_app.running.run import LampAndScreen
from gate_app.supervision.desk import Desk
from gate_app.supervision.screens import OWNER
from gate_app.words import TEXTS
from hardware.fakes import FakePrinter
from hardware.ports import Sheet
from shared.admission import Override
from shared.badges import ready_made
from shared.badges.sheets import Dots
from shared.errors import Conflict, Forbidden
from shared.wire.snapshot import AnyRow, TicketTypeRow
from shared.words.wording import LANGUAGES, in_language, wording
from tests.contracts.hardware.test_printers import code_on
from tests.gate_builders import EVENT, PIN, GateAtHome, a_code, a_gate, the_house, ticket_id_of

SETTINGS = PrinterSettings(kind="fake")


def a_house_with_badges(layout: str = ready_made.text_of("badge")) -> list[AnyRow]:
    rows = [row for row in the_house() if not isinstance(row, TicketTypeRow)]
    return [*rows, TicketTypeRow(1, "Regular", badge=layout)]


class PrintingGate:
    """A gate with a printer, whose thread runs only when it is told to."""

    def __init__(self, folder: Path, settings: PrinterSettings = SETTINGS, layout: str | None = None) -> None:
        rows = a_house_with_badges() if layout is None else a_house_with_badges(layout)
        self.gate: GateAtHome = a_gate(folder, rows)
        self.settings = settings
        self.printer = FakePrinter()
        self.faults: dict[str, str] = {}
        self.switch_on()

    def switch_on(self) -> None:
        context = self.gate.context
        self.records = Records(context.home.badges)
        self.queue = BadgeQueue(
            settings=self.settings,
            printer=self.printer,
            records=self.records,
            journal=context.journal,
            roster=context.roster,
            time_keeper=context.time,
            report=self.report,
        )
        self.queue._take_up()

    def report(self, device: str, words: str | None) -> None:
        self.faults.pop(device, None)
        if words is not None:
            self.faults[device] = words

    @property
    def desk(self) -> Desk:
        return self.gate.context.desk(self.gate.lamp, badges=self.queue)

    def admit(self, number: int = 1, **options: Any) -> None:
        code = a_code(number)
        self.queue.read(code)
        self.queue.recorded(self.gate.scan(code, **options)["seq"])

    def ask_again(self, number: int, pin: str = PIN) -> str:
        fields = {"ticket": f"{EVENT}:{ticket_id_of(number):016x}", "pin": pin}
        return str(self.desk.perform("print", fields, OWNER)["message"])

    def work(self) -> None:
        """Everything that there is to do now."""
        for _ in range(20):
            if self.queue.step():
                return

    def cut_the_power(self, away_ms: int = 5_000) -> None:
        self.records.close()
        self.gate.crash(reboot=True, away_ms=away_ms)
        self.switch_on()

    @property
    def printed(self) -> list[str]:
        return [sheet.title for sheet in self.printer.sheets]


@pytest.fixture
def door(tmp_path: Path) -> Iterator[PrintingGate]:
    made = PrintingGate(tmp_path)
    yield made
    made.queue.close()
    made.gate.context.close()


def test_each_guest_gets_one_badge_on_admission(door: PrintingGate) -> None:
    door.admit(1)
    door.admit(2)
    door.work()
    door.admit(1)  # already used
    door.work()
    assert door.printed == ["NIGHT-000001", "NIGHT-000002"]
    assert door.queue.state == "ready"


def test_the_code_on_the_badge_is_the_tickets_own(door: PrintingGate, tmp_path: Path) -> None:
    door.admit(3)
    door.work()
    (sheet,) = door.printer.sheets
    assert code_on(Dots(sheet.width, sheet.height, sheet.rows), tmp_path) == a_code(3)


@pytest.mark.parametrize("options", [{"direction": "exit"}, {"mode": "test"}, {"gate": "nowhere"}])
def test_nobody_else_gets_one(door: PrintingGate, options: dict[str, str]) -> None:
    if "gate" in options:
        door.queue.recorded(door.gate.scan("not a ticket")["seq"])
    else:
        door.admit(1, **options)
    door.work()
    assert door.printed == []


def test_whoever_a_supervisor_lets_in_gets_one_but_not_a_second(door: PrintingGate) -> None:
    door.admit(1)
    door.work()
    door.admit(1, reader="r2", override=Override(1, "lost"))
    door.work()
    assert door.printed == ["NIGHT-000001"]


@pytest.mark.parametrize(
    ("reason", "denial", "due"),
    [
        ("admitted", "", True),
        ("admitted_override", "wrong_gate", True),
        ("admitted_override", "already_used", False),
        ("admitted_override", "already_inside", False),
        ("admitted_override", "daily_limit_reached", False),
        ("admitted_reentry", "", False),
        ("exited", "", False),
        ("test_ok", "", False),
        ("zone_full", "", False),
    ],
)
def test_the_journal_tells_who_gets_one(door: PrintingGate, reason: str, denial: str, due: bool) -> None:
    door.gate.scan(a_code(1))
    entry = door.gate.presentations()[-1]
    assert is_due(structs.replace(entry, reason=reason, override_denial=denial)) is due


def test_without_paper_guests_come_in_and_badges_wait(door: PrintingGate) -> None:
    door.printer.run_out_of_paper()
    door.admit(1)
    door.admit(2)
    door.work()
    assert len(door.gate.lamp.given) == 2
    assert door.printed == []
    assert door.faults["printer"].startswith("Printer: no paper.")
    assert "2 badges are waiting." in door.faults["printer"]
    assert "2 Ausweise warten." in in_language(door.faults["printer"], "de")
    door.printer.recover()
    door.work()
    assert door.printed == ["NIGHT-000001", "NIGHT-000002"]
    assert door.faults == {}


def test_an_idle_printer_is_asked_how_it_is(door: PrintingGate) -> None:
    door.printer.unplug()
    door.work()
    assert door.faults["printer"].startswith("Printer: not there.")
    assert door.queue.state == "unplugged"
    door.printer.recover()
    door.work()
    assert (door.faults, door.queue.state) == ({}, "ready")


def test_a_power_cut_between_admission_and_printing_loses_no_badge(door: PrintingGate) -> None:
    door.work()
    door.gate.scan(a_code(1))  # and the power fails before the printer hears of it
    door.cut_the_power()
    door.work()
    assert door.printed == ["NIGHT-000001"]
    door.cut_the_power()
    door.work()
    assert door.printed == ["NIGHT-000001"], "and never twice"


def test_a_power_cut_while_it_prints_is_left_to_people(door: PrintingGate, monkeypatch: pytest.MonkeyPatch) -> None:
    class Cut(BaseException):
        pass

    def cut(_sheet: Sheet) -> None:
        raise Cut

    door.admit(1)
    with monkeypatch.context() as halfway, pytest.raises(Cut):
        halfway.setattr(door.printer, "print_sheet", cut)
        door.work()
    door.cut_the_power()
    door.work()
    assert door.printed == []
    assert "NIGHT-000001" in door.faults["printer unsure"]
    door.ask_again(1)
    door.work()
    assert door.printed == ["NIGHT-000001"]
    assert door.faults == {}


def test_paper_that_ends_in_the_middle_is_left_to_people(door: PrintingGate) -> None:
    door.printer.run_out_of_paper(halfway=True)
    door.admit(1)
    door.work()
    assert "NIGHT-000001" in door.faults["printer unsure"]
    door.printer.recover()
    door.work()
    assert door.printed == []


def test_what_waits_too_long_is_printed_only_when_asked_for(door: PrintingGate) -> None:
    door.printer.unplug()
    door.admit(1)
    door.work()
    door.gate.hands.pass_ms(TOO_LATE_MS + 1)
    door.printer.recover()
    door.work()
    assert door.printed == []
    door.ask_again(1)
    door.work()
    assert door.printed == ["NIGHT-000001"]


def test_a_supervisor_prints_it_again_and_the_journal_says_so(door: PrintingGate) -> None:
    door.admit(1)
    door.work()
    assert "NIGHT-000001" in door.ask_again(1)
    assert "NIGHT-000001" in door.ask_again(1)
    door.work()
    assert door.printed == ["NIGHT-000001"] * 3
    assert [entry.operator for entry in door.gate.entries()[-2:]] == ["Sam", "Sam"]


def test_it_takes_a_pin_a_printer_and_a_layout(door: PrintingGate, tmp_path: Path) -> None:
    with pytest.raises(Forbidden):
        door.ask_again(1, pin="000000")
    fields = {"ticket": f"{EVENT}:{ticket_id_of(1):016x}", "pin": PIN}
    with pytest.raises(Conflict, match="no printer"):
        door.gate.context.desk(door.gate.lamp).perform("print", fields, OWNER)
    plain = PrintingGate(tmp_path / "plain", layout="")
    with pytest.raises(Conflict, match="no badge for tickets of the type Regular"):
        plain.ask_again(1)
    plain.admit(1)
    plain.work()
    assert plain.printed == []
    plain.gate.context.close()


def test_a_printer_for_requests_only(tmp_path: Path) -> None:
    door = PrintingGate(tmp_path, SETTINGS.model_copy(update={"on_admission": False}))
    door.admit(1)
    door.work()
    assert door.printed == []
    door.ask_again(1)
    door.work()
    assert door.printed == ["NIGHT-000001"]
    door.gate.context.close()


def test_a_gate_that_gets_a_printer_prints_nothing_for_those_inside(tmp_path: Path) -> None:
    gate = a_gate(tmp_path, a_house_with_badges())
    gate.scan(a_code(1))
    gate.context.close()
    door = PrintingGate(tmp_path)
    door.work()
    assert door.printed == []
    door.admit(2)
    door.work()
    assert door.printed == ["NIGHT-000002"]
    door.gate.context.close()


def test_a_layout_that_cannot_be_used_is_told_and_holds_up_nobody(tmp_path: Path) -> None:
    door = PrintingGate(tmp_path, layout="width_mm = 1")
    door.admit(1)
    door.admit(2)
    door.queue.step()
    assert "width_mm" not in door.faults["printer"] or "cannot be used" in door.faults["printer"]
    assert "cannot be used" in door.faults["printer"]
    assert len(door.records.those(State.LEFT)) == 1
    door.gate.context.close()


def test_a_printer_that_hangs_delays_no_lamp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    door = PrintingGate(tmp_path)
    hanging, released, stop = threading.Event(), threading.Event(), threading.Event()

    def hang(_sheet: Sheet) -> None:
        hanging.set()
        released.wait(30)

    monkeypatch.setattr(door.printer, "print_sheet", hang)
    lamp = door.gate.lamp
    thread = threading.Thread(target=door.queue.run, args=(stop,))
    thread.start()
    door.admit(1)
    assert hanging.wait(30)
    for number in (2, 3, 4, 5):
        door.admit(number)
    assert len(lamp.given) == 5, "although the printer still holds the first sheet"
    assert not released.is_set()
    stop.set()
    released.set()
    door.queue.wake()
    thread.join(30)
    assert not thread.is_alive()
    door.gate.context.close()


def test_the_lamp_comes_first(tmp_path: Path) -> None:
    """The queue hears of an admission when lamp and screen have shown it."""
    order: list[str] = []

    class Part:
        def __init__(self, name: str) -> None:
            self.name = name

        def has_lane(self, _reader: str) -> bool:
            return False

        def __getattr__(self, _method: str) -> Any:
            return lambda *_arguments: order.append(self.name)

    LampAndScreen(Part("lamp"), Part("screen"), badges=Part("printer")).show({"seq": 7}, None, None)
    assert order == ["lamp", "screen", "printer"]


def test_a_name_is_on_the_badge_only_where_the_gate_has_names(door: PrintingGate) -> None:
    from gate_app.badges.faces import words_of

    snapshot = door.gate.context.roster.snapshots[EVENT]
    row = snapshot.ticket(ticket_id_of(1))
    assert words_of(snapshot, row, "")["name"] == ""
    words = words_of(snapshot, replace(row, name="Zoë"), "CODE")
    assert words == {
        "name": "Zoë",
        "type": "Regular",
        "zone": "Stalls",
        "row": "C",
        "seat": "1",
        "number": "NIGHT-000001",
        "event": "Night Music",
        "venue": "",
        "date": "2026-07-04",
        "code": "CODE",
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_fault_of_a_printer_has_words(language: str) -> None:
    from hardware.ports import PrinterFault

    said = wording(TEXTS, language)
    for kind in set(PrinterFault) - {PrinterFault.OTHER}:
        assert said(f"printer.{kind}")


def test_a_running_thread_prints_by_itself(door: PrintingGate) -> None:
    stop = threading.Event()
    thread = threading.Thread(target=door.queue.run, args=(stop,))
    thread.start()
    door.admit(1)
    give_up = time.monotonic() + 30
    while not door.printed and time.monotonic() < give_up:
        stop.wait(0.01)
    stop.set()
    door.queue.wake()
    thread.join(30)
    assert door.printed == ["NIGHT-000001"]
