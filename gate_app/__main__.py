"""The command line of the gate: gatehouse-gate."""

from __future__ import annotations

import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from gate_app import commands, reading_home
from gate_app.app import home_at, http_wire, real_world
from gate_app.enrolment import enrol as enrol_here
from gate_app.lodge import Lodge, opened
from gate_app.printing import say, tell
from gate_app.status import FORGOTTEN_WORDS, clock_status, has_forgotten
from shared.errors import GatehouseError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="The gate: decides who comes in.",
)

HomeOption = Annotated[
    Path | None, typer.Option("--home", help="The gate's folder.", envvar="GATEHOUSE_GATE_HOME", readable=False)
]


GateOption = Annotated[
    str, typer.Option(metavar="CODE", help="Stand at another of the gates that this device may use.")
]
PinOption = Annotated[
    str, typer.Option("--pin", metavar="-", help="- for the terminal, or a file descriptor's number.")
]


class Doors(StrEnum):
    """What may be done with doors."""

    OPEN = "open"
    CLOSE = "close"


class Way(StrEnum):
    """Directions, as options take them."""

    ENTRY = "entry"
    EXIT = "exit"


class Kind(StrEnum):
    """Modes, as options take them."""

    REAL = "real"
    TEST = "test"


class ReaderKind(StrEnum):
    """Readers that `run` may open."""

    CAMERA = "camera"
    USB = "usb"
    SERIAL = "serial"
    KEYBOARD = "keyboard"
    FAKE = "fake"


@app.command()
def enrol(
    url: Annotated[str, typer.Argument(help="The server's address.")],
    code: Annotated[str, typer.Argument(help="The enrolment code from the device's page.")],
    name: Annotated[str, typer.Option(help="What to call this device.")] = "",
    home: HomeOption = None,
) -> None:
    """Make this machine a device of an organisation. Its journal stays, also when it is enrolled again."""
    with _lodge(home, "enrol") as lodge:
        world = lodge.world
        got = enrol_here(
            url, code, http_wire(lodge.config), world.entropy, name=commands.clean(name), software=world.software
        )
        reading_home.take_identity(lodge, got)
        say(f"Enrolled with {got.identity.organisation_name}. Compare this number with the admin page: {got.check}")
        events = [commands.event_line(assignment) for assignment in got.events]
        told = {"device_id": got.identity.device_id, "organisation": got.identity.organisation_name, "gate": got.gate}
        tell(told | {"events": events, "organisation_id": got.identity.organisation, "check": got.check})


@app.command()
def sync(
    once: Annotated[bool, typer.Option("--once", help="Until everything is exchanged, then stop.")] = False,
    home: HomeOption = None,
) -> None:
    """Exchange rows, movements and the journal with the server."""
    with _lodge(home, "sync") as lodge:
        if once:
            puller, pusher = lodge.sync(http_wire(lodge.config), 0)
            told = commands.sync_once(lodge, puller, pusher)
            tell(told)
            if "error" in told:
                raise typer.Exit(_said(told["error"]))
            return
        from gate_app.running import keep_in_step

        keep_in_step(lodge, threading.Event())


@app.command()
def scan(  # noqa: PLR0917 - options, which typer passes by name
    codes: Annotated[
        list[str], typer.Argument(metavar="CODE… | -", help="Codes, or - for one a line on standard input.")
    ],
    direction: Annotated[Way | None, typer.Option()] = None,
    mode: Annotated[Kind | None, typer.Option()] = None,
    gate: GateOption = "",
    override_pin: Annotated[
        str,
        typer.Option(
            metavar="-", help="Ask for a supervisor's PIN: - for the terminal, or a file descriptor's number."
        ),
    ] = "",
    override_reason: Annotated[str, typer.Option(metavar="TEXT")] = "",
    reader: Annotated[str, typer.Option(metavar="NAME")] = "terminal",
    by_hand: Annotated[
        bool, typer.Option("--by-hand", help="The words are a ticket number or a confirmation code.")
    ] = False,
    at: Annotated[str, typer.Option(metavar="ISO", help="Another time than now: for training, in test mode.")] = "",
    home: HomeOption = None,
) -> None:
    """Judge codes, one line of JSON each."""
    with _lodge(home, "scan") as lodge:
        wish = commands.ScanWish(
            direction.value if direction else None,
            mode.value if mode else None,
            gate,
            commands.clean(reader, 40) or "terminal",
            by_hand,
            commands.moment_of(at) if at else None,
            override_pin,
            override_reason,
        )
        commands.scan(lodge, commands.codes_of(codes), wish)


@app.command()
def run(
    screen: Annotated[
        int | None, typer.Option(metavar="PORT", min=0, max=65535, help="Where the local page is.")
    ] = None,
    headless: Annotated[bool, typer.Option("--headless", help="No local page.")] = False,
    reader: Annotated[list[ReaderKind] | None, typer.Option(help="Instead of the readers in the settings.")] = None,
    gate: GateOption = "",
    home: HomeOption = None,
) -> None:
    """The real thing: readers, lamps, screen and synchronisation, until it is stopped."""
    from gate_app.running import run_gate

    kinds, again = tuple(kind.value for kind in reader or ()), True
    while again:
        with _lodge(home, "run") as lodge:
            port = None if headless else (lodge.config.screen_port if screen is None else screen)
            again = run_gate(lodge, kinds, port, gate)


@app.command()
def doors(
    what: Annotated[Doors, typer.Argument()],
    gate: Annotated[str, typer.Option(metavar="CODE", help="A closed gate instead of the event's doors.")] = "",
    event: Annotated[int | None, typer.Option(metavar="NUMBER")] = None,
    pin: PinOption = "-",
    home: HomeOption = None,
) -> None:
    """Open the doors of an event, or a closed gate, on this device; a supervisor's PIN is asked for."""
    with _lodge(home, "doors") as lodge:
        number, opened = commands.the_event(lodge, event), what is Doors.OPEN
        lodge.decisions().gate_number(number, gate)
        by = commands.ask_supervisor(lodge, pin)
        tell(commands.entry_line(lodge.decisions().open_doors(number, gate, by, opened=opened)))
        which = f"Gate {gate.upper()}" if gate else f"The doors of {lodge.posts.by_event[number].name}"
        verb = "open on this device now" if opened else "no longer opened by hand: the organiser's word counts again"
        say(f"{which} {'is' if gate else 'are'} {verb}, by {by.name}.")


@app.command("empty-house")
def empty_house(
    event: Annotated[int | None, typer.Option(metavar="NUMBER")] = None,
    pin: PinOption = "-",
    home: HomeOption = None,
) -> None:
    """Nobody is inside any more: entries count anew on this device. A supervisor's PIN is asked for."""
    with _lodge(home, "empty-house") as lodge:
        number = commands.the_event(lodge, event)
        by = commands.ask_supervisor(lodge, pin)
        tell(commands.entry_line(lodge.decisions().empty_house(number, by)))
        say(f"Nobody counts as inside at {lodge.posts.by_event[number].name} any more, for this device, by {by.name}.")


@app.command()
def annul(
    seq: Annotated[int, typer.Argument(metavar="SEQ", min=1, help="The entry that never became an admission.")],
    reason: Annotated[str, typer.Option(metavar="TEXT")] = "",
    pin: PinOption = "-",
    home: HomeOption = None,
) -> None:
    """Take back an admission of this gate: the guest did not walk in. A supervisor's PIN is asked for."""
    with _lodge(home, "annul") as lodge:
        admission = lodge.decisions().admission(seq)
        by = commands.ask_supervisor(lodge, pin)
        tell(commands.entry_line(lodge.decisions().annul(seq, commands.clean(reason), by)))
        say(f"Taken back: {commands.admission_words(lodge, admission)}, by {by.name}.")


@app.command("set-time")
def set_time(
    now: Annotated[str, typer.Argument(metavar="ISO", help="What time it is, by a person's word.")],
    pin: PinOption = "-",
    home: HomeOption = None,
) -> None:
    """Set the clock of a gate that hears no server; a supervisor's PIN is asked for."""
    with _lodge(home, "set-time") as lodge:
        true = commands.moment_of(now)
        lodge.decisions().require_plausible(true)
        by = commands.ask_supervisor(lodge, pin)
        clock = clock_status(lodge.decisions().set_clock(true, by))
        tell(clock)
        say(f"This gate takes it to be {clock['now']}, by {by.name}, until it hears the server.")


@app.command()
def status(as_json: Annotated[bool, typer.Option("--json")] = False, home: HomeOption = None) -> None:
    """How this gate is doing; also while another process holds the home."""
    told = reading_home.status(home_at(home), real_world())
    if as_json:
        tell(told)
    else:
        say_lines(told)


@app.command()
def journal(
    verify: Annotated[bool, typer.Option("--verify", help="Check every entry against the one before.")] = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    home: HomeOption = None,
) -> None:
    """What was written down at this gate."""
    with reading_home.journal(home_at(home)) as connection:
        if verify:
            told = reading_home.verified(connection)
            tell(told)
            raise typer.Exit(0 if told["ok"] else 1)
        for line in reading_home.entries(connection):
            tell(line) if as_json else print(_entry_words(line))


@app.command()
def decode(
    pictures: Annotated[list[Path], typer.Argument(metavar="IMAGE…", readable=False)],
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Read codes from pictures, by the pipeline of the camera."""
    from hardware.devices import decode_picture

    del as_json  # a machine's line is the only form there is
    world = real_world()
    for picture in pictures:
        tell(commands.picture_line(picture, decode_picture, world.monotonic))


@app.command()
def whatif(source: Annotated[str, typer.Argument(metavar="FILE | -")]) -> None:
    """What the gate would answer: one case a line in, one answer a line out."""
    from gate_app.whatif import answers

    for line in answers(_case_lines(source)):
        tell(line)


@app.command()
def doctor(home: HomeOption = None) -> None:
    """Check camera, scanner, sound, clock, disk and network, and say what to do."""
    from gate_app.doctor import findings

    sound = True
    for finding in findings(home_at(home), real_world()):
        sound = sound and finding.ok
        tell({"part": finding.part, "ok": finding.ok, "words": finding.words})
        say(f"{'ok  ' if finding.ok else 'look'}  {finding.part}: {finding.words}")
    raise typer.Exit(0 if sound else 1)


def main() -> None:
    """The entry point: mistakes are one line of words, and never a traceback."""
    try:
        status = app(standalone_mode=False)
    except typer.Exit as done:
        status = done.exit_code
    except typer.TyperException as why:
        status = _said(_one_line(why), getattr(why, "exit_code", 2))
    except GatehouseError as why:
        status = _said(why.message)
    except BrokenPipeError:
        status = _pipe_closed()
    except (sqlite3.Error, OSError) as why:
        status = _said(
            f"The disk or a file on it does not work: {why}. Check the card, and run: gatehouse-gate doctor."
        )
    except (typer.Abort, KeyboardInterrupt):
        status = 130
    sys.exit(status or 0)


@contextmanager
def _lodge(home: Path | None, doing: str) -> Iterator[Lodge]:
    with opened(home_at(home), real_world(), doing) as lodge:
        forgotten = FORGOTTEN_WORDS if has_forgotten(lodge.database.connection) else ""
        for words in (lodge.database.cannot_write, forgotten, *lodge.complaints):
            say(words)
        yield lodge


def _said(words: str, status: int = 1) -> int:
    say(words)
    return status


def _one_line(why: typer.TyperException) -> str:
    words = why.format_message() if hasattr(why, "format_message") else str(why)
    said = " ".join(words.split())
    return f"gatehouse-gate: {said}{'' if said.endswith('.') else '.'} Try --help."


def _pipe_closed() -> int:
    """Whoever read our lines went away; what was committed stays committed."""
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
        raise GatehouseError(f"{source} cannot be read: {why.strerror}.") from why


def say_lines(told: dict[str, Any]) -> None:
    """The status in words, on standard output."""
    for name in ("organisation", "event", "gate", "mode", "online", "unsent", "snapshot_age_s", "revision", "inside"):
        print(f"{name.replace('_', ' '):>16}: {'-' if told.get(name) is None else told[name]}")
    clock = told["clock"]
    print(f"{'clock':>16}: {clock['now']} ± {clock['uncertainty_ms'] / 1000:.1f} s by {clock['source']}")
    for words in told["warnings"]:
        print(f"{'!':>16}  {words}")


def _entry_words(line: dict[str, Any]) -> str:
    verdict = ("admit" if line["admitted"] else "deny ") if line["reason"] else "     "
    told = line["reason"] or " ".join(f"{name}={value}" for name, value in line["details"].items() if value != "")
    return f"{line['branch']:>10}/{line['seq']:<6} {line['at']} {line['kind']:<12} {verdict} {told}".rstrip()


if __name__ == "__main__":
    main()
