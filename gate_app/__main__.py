"""The command line of the gate: gatehouse-gate."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from gate_app import reading_home
from gate_app.app import home_at, http_transport, software, this_host
from gate_app.command_line import commands
from gate_app.command_line.badge_commands import print_badge
from gate_app.command_line.desk_commands import add_desk_commands, open_context
from gate_app.command_line.options import ContentOption, DirectionOption, GateOption, HomeOption, ModeOption
from gate_app.command_line.printing import entry_text, print_json, print_message, print_status
from gate_app.command_line.running_gate import running_gate
from gate_app.doctor.command import doctor, updates_allowed
from gate_app.enrolment import enrol as enrol_here
from gate_app.enrolment import parse_code, server_address
from gate_app.journal.lines import clean
from gate_app.simulation.command import simulate
from hardware.ports import ReaderKind
from shared.errors import GatehouseError, InvalidRequest
from shared.garbage import keep_for_good, seldom_collect
from shared.words.mistakes import usage_line

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="The gate: admits guests, online or offline.",
)


def _print_version(requested: bool) -> None:
    if requested:
        print(software())
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """The gate: admits guests, online or offline."""


@app.command()
def enrol(
    url: Annotated[str, typer.Argument(help="The server's address.")],
    code: Annotated[str, typer.Argument(help="The enrolment code from the device's page.")],
    name: Annotated[str, typer.Option(help="What to call this device.")] = "",
    home: HomeOption = None,
) -> None:
    """Enrol this machine as a device of an organisation. Enrolling again keeps its journal."""
    # A mistyped code or address must not leave a folder behind.
    parse_code(code)
    server_address(url)
    running = running_gate(home_at(home))
    line = running.ask("enrol", url=url, code=code, name=clean(name)) if running else _enrol(home, url, code, name)
    print_message(f"Enrolled with {line['organisation']}. The admin page must show the same number: {line['check']}")
    print_json(line)


def _enrol(home: Path | None, url: str, code: str, name: str) -> dict[str, Any]:
    with open_context(home, "enrol", create=True) as context:
        host = context.host
        got = enrol_here(
            url, code, http_transport(context.config), host.entropy, name=clean(name), software=host.software
        )
        reading_home.take_identity(context, got)
        return commands.enrolled_line(got)


@app.command()
def sync(
    once: Annotated[bool, typer.Option("--once", help="Stop once everything is exchanged.")] = False,
    home: HomeOption = None,
) -> None:
    """Exchange rows, movements and the journal with the server."""
    with open_context(home, "sync") as context:
        if once:
            puller, pusher = context.sync(http_transport(context.config), 0)
            result = commands.sync_once(context, puller, pusher)
            print_json(result)
            if "error" in result:
                raise typer.Exit(_fail(result["error"]))
            return
        from gate_app.running.run import run_sync

        run_sync(context, threading.Event())


@app.command()
def scan(  # noqa: PLR0917 - options, which typer passes by name
    codes: Annotated[
        list[str], typer.Argument(metavar="CODE… | -", help="Codes, or - for standard input, one per line.")
    ],
    direction: Annotated[DirectionOption | None, typer.Option()] = None,
    mode: Annotated[ModeOption | None, typer.Option()] = None,
    gate: GateOption = "",
    override_pin: Annotated[
        str,
        typer.Option(
            metavar="-",
            help="Override with a supervisor's PIN: - for the terminal, or the number of a file descriptor.",
        ),
    ] = "",
    override_reason: Annotated[str, typer.Option(metavar="TEXT")] = "",
    reader: Annotated[str, typer.Option(metavar="NAME")] = "terminal",
    by_hand: Annotated[bool, typer.Option("--by-hand", help="CODE is a ticket number or confirmation code.")] = False,
    at: Annotated[str, typer.Option(metavar="ISO", help="Scan as of another time: for training, in test mode.")] = "",
    home: HomeOption = None,
) -> None:
    """Scan codes and print one JSON line for each."""
    command = commands.ScanCommand(
        direction.value if direction else None,
        mode.value if mode else None,
        gate,
        clean(reader, 40) or "terminal",
        by_hand,
        commands.parse_time(at) if at else None,
        override_pin,
        override_reason,
    )
    with open_context(home, "scan") as context:
        if not commands.scan(context, commands.codes_of(codes), command):
            raise typer.Exit(1)


@app.command()
def run(
    screen: Annotated[
        int | None, typer.Option(metavar="PORT", min=0, max=65535, help="Port of the local page.")
    ] = None,
    headless: Annotated[bool, typer.Option("--headless", help="No local page.")] = False,
    reader: Annotated[list[ReaderKind] | None, typer.Option(help="Replaces the readers in the settings.")] = None,
    gate: GateOption = "",
    home: HomeOption = None,
) -> None:
    """Run the gate: readers, lamps, screen and synchronisation, until it is stopped."""
    from gate_app.running.run import Again, run_gate

    kinds = tuple(kind.value for kind in reader or ())
    again: Again | None = Again()
    while again is not None:
        with open_context(home, "run") as context:
            port = None if headless else (context.config.screen_port if screen is None else screen)
            again = run_gate(context, kinds, port, gate, again.news)


@app.command()
def status(as_json: Annotated[bool, typer.Option("--json")] = False, home: HomeOption = None) -> None:
    """Show the state of this gate, also while it is running."""
    result = reading_home.status(home_at(home), this_host())
    if as_json:
        print_json(result)
    else:
        print_status(result)


@app.command()
def journal(
    verify: Annotated[bool, typer.Option("--verify", help="Check the hash chain of all entries.")] = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    home: HomeOption = None,
) -> None:
    """Print the journal of this gate."""
    with reading_home.journal(home_at(home)) as connection:
        if verify:
            result = reading_home.verified(connection)
            print_json(result)
            raise typer.Exit(0 if result["ok"] else 1)
        for line in reading_home.entries(connection):
            print_json(line) if as_json else print(entry_text(line))


def _exportable(file: Path) -> Path:
    from gate_app.command_line.export import WRITERS

    if file.suffix.lower() not in WRITERS:
        raise typer.BadParameter(f"the name must end in one of {', '.join(WRITERS)}")
    return file


@app.command()
def export(
    content: Annotated[ContentOption, typer.Argument(help="What to export.")],
    file: Annotated[
        Path, typer.Argument(callback=_exportable, help="A new file; its ending, .csv, .jsonl or .db, is the format.")
    ],
    home: HomeOption = None,
) -> None:
    """Write the journal or the roster to a file, also while the gate is running."""
    from gate_app.command_line.export import Content, write

    lines = write(home_at(home), Content(content), file)
    print_json({"file": str(file), "content": content, "lines": lines})


@app.command()
def decode(
    images: Annotated[list[Path], typer.Argument(metavar="IMAGE…", readable=False)],
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Read codes from image files with the camera's decoder."""
    from hardware.devices import decode_image

    del as_json  # JSON lines are the only format
    host, unreadable = this_host(), 0
    for image in images:
        line = commands.image_line(image, decode_image, host.monotonic)
        print_json(line)
        print_message(line.get("error", ""))
        unreadable += "error" in line
    raise typer.Exit(1 if unreadable else 0)


@app.command()
def whatif(source: Annotated[str, typer.Argument(metavar="FILE | -")]) -> None:
    """Simulate the admission rules: one case per line in, one answer per line out."""
    from gate_app.whatif.simulator import answers

    for line in answers(_case_lines(source)):
        print_json(line)


app.command()(doctor)
app.command("updates-allowed")(updates_allowed)
app.command("print")(print_badge)
app.command()(simulate)
add_desk_commands(app)


def main() -> None:
    """The entry point: errors are printed as one line, never as a traceback."""
    os.umask(0o077)  # journals and exports name guests
    seldom_collect()
    keep_for_good(searched=False)
    try:
        status = app(standalone_mode=False)
    except typer.Exit as done:
        status = done.exit_code
    except typer.TyperException as why:
        status = _fail(_usage_message(why), getattr(why, "exit_code", 2))
    except InvalidRequest as why:
        status = _fail(why.message, 2)
    except GatehouseError as why:
        status = _fail(why.message)
    except BrokenPipeError:
        status = _pipe_closed()
    except (sqlite3.Error, OSError) as why:
        status = _fail(f"Disk error: {why}. Check the card, and run: gatehouse-gate doctor.")
    except (typer.Abort, KeyboardInterrupt):
        status = 130
    sys.exit(status or 0)


def _fail(message: str, status: int = 1) -> int:
    print_message(message)
    return status


def _usage_message(why: typer.TyperException) -> str:
    """The help as it is, where no command was given; a mistake as one line."""
    message = why.format_message() if hasattr(why, "format_message") else str(why)
    if message.startswith("Usage:"):
        return message
    return usage_line("gatehouse-gate", message)


def _pipe_closed() -> int:
    """The reader of our output has gone; what was committed stays committed."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _case_lines(source: str) -> Iterator[str]:
    if source == "-":
        yield from (line.decode("utf-8", "replace") for line in sys.stdin.buffer)
        return
    try:
        with Path(source).open(encoding="utf-8", errors="replace") as file:
            yield from file
    except OSError as why:
        raise typer.BadParameter(f"{source} cannot be read: {why.strerror}.") from why


if __name__ == "__main__":
    main()
