"""The command `gatehouse-gate print`: a preview of badges, a trial of the printer, and a badge once more."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from gate_app.app import home_at, this_host
from gate_app.badges.sheet import drawing, sheet_of
from gate_app.command_line import commands
from gate_app.command_line.options import HomeOption, PinOption
from gate_app.command_line.printing import print_json, print_message
from gate_app.command_line.running_gate import RunningGate, require_running
from gate_app.installation.config import PrinterSettings, read_config
from hardware.ports import DeviceError
from hardware.printers.opening import open_printer
from shared.badges import ready_made
from shared.badges.layout import Layout, read_layout
from shared.errors import InvalidRequest, NotFound, SettingsError, StorageError, Unavailable

SAMPLE: Final = {
    "name": "Ada Lovelace",
    "type": "Weekend pass",
    "zone": "Stalls",
    "row": "C",
    "seat": "12",
    "number": "NIGHT-000123",
    "event": "Night Music",
    "venue": "Old Mill",
    "date": "2026-07-04",
    "code": "GATEHOUSE-" * 17,
}
"""A guest of no event; the code is as long as a ticket's, and is none."""


def print_badge(  # noqa: PLR0917 - options, which typer passes by name
    ticket: Annotated[
        str, typer.Argument(metavar="[TICKET]", help="Number or confirmation code: print its badge again.")
    ] = "",
    preview: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a sample badge to this .png or .pdf.")
    ] = None,
    test: Annotated[bool, typer.Option("--test", help="Print a sample badge on this gate's printer.")] = False,
    layout: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="A layout that comes along, or a TOML file.")
    ] = "badge",
    pin: PinOption = "-",
    home: HomeOption = None,
) -> None:
    """Preview a badge, try the printer, or print a ticket's badge again (asks for a supervisor's PIN)."""
    try:
        _do(ticket, preview, test=test, layout=layout, pin=pin, home=home)
    except DeviceError as why:
        raise Unavailable(str(why), code="no_printer") from why


def _do(ticket: str, preview: Path | None, *, test: bool, layout: str, pin: str, home: Path | None) -> None:
    if [bool(ticket), preview is not None, test].count(True) != 1:
        raise typer.BadParameter("name a ticket, or use --preview FILE or --test")
    if ticket:
        _print_again(require_running(home_at(home)), ticket, pin)
    elif preview is not None:
        _write(preview, _layout(layout))
    else:
        settings = read_config(home_at(home).require_gate().settings).printer
        if settings is None:
            raise SettingsError("The settings name no printer. Add one under [printer] in gate.toml.")
        _try(settings, _layout(layout))


def _print_again(gate: RunningGate, ticket: str, pin: str) -> None:
    found: list[dict[str, Any]] = gate.ask("find", query=ticket)["tickets"]
    exact = [one for one in found if one["number"].upper() == ticket.upper()] or found
    if len(exact) != 1:
        raise NotFound(f"{len(exact)} tickets match “{ticket}”. Name one by its number, as it stands on the ticket.")
    answer = gate.ask("print", ticket=exact[0]["ticket"], pin=commands.read_pin(pin))
    print_json(answer["entry"])
    print_message(answer["message"])


def _layout(named: str) -> Layout:
    if named in ready_made.names():
        return ready_made.layout_of(named)
    path = Path(named)
    try:
        return read_layout(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as why:
        known = ", ".join(ready_made.names())
        raise InvalidRequest(f"There is no layout {named}: choose a TOML file, or one of {known}.") from why


def _write(path: Path, layout: Layout) -> None:
    draw = {".png": drawing().png_of, ".pdf": _pdf}.get(path.suffix.lower())
    if draw is None:
        raise typer.BadParameter("--preview needs a file that ends in .png or .pdf")
    try:
        path.write_bytes(draw(layout, SAMPLE))
    except OSError as why:
        raise StorageError(f"{path} cannot be written: {why.strerror}.") from why
    print_json({"written": str(path), "layout": layout.title})


def _pdf(layout: Layout, words: dict[str, str]) -> bytes:
    content: bytes = drawing().pdf_of([(layout, words)], layout.title)
    return content


def _try(settings: PrinterSettings, layout: Layout) -> None:
    printer = open_printer(settings.options, this_host().monotonic, threading.Event())
    try:
        printer.check()
        printer.print_sheet(sheet_of(layout, SAMPLE, settings))
    finally:
        printer.close()
    print_json({"printed": layout.title, "printer": settings.name})
    print_message("Printed. Scan the code on it with this gate's reader: the gate must say that it is not a ticket.")
