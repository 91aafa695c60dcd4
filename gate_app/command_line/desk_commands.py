"""The commands of stewards and supervisors. Where a gate is running they ask it, so that nobody has to stop it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from gate_app.app import home_at, this_host
from gate_app.command_line import commands
from gate_app.command_line.options import DirectionOption, Doors, HomeOption, OnOff, PairOption, PinOption
from gate_app.command_line.printing import PrintedLamp, print_json, print_message
from gate_app.command_line.running_gate import require_running, running_gate
from gate_app.gate_context import GateContext, opened
from gate_app.status import MEMORY_LOST_MESSAGE, clock_status, memory_is_lost
from gate_app.supervision.screens import OWNER
from shared.errors import NotFound


def add_desk_commands(app: typer.Typer) -> None:
    """Adds them to the command line."""
    for command in (doors, annul, find, loudness, pair, party, screens, train, stand):
        app.command()(command)
    app.command("empty-house")(empty_house)
    app.command("correct-count", context_settings={"ignore_unknown_options": True})(correct_count)
    app.command("set-time")(set_time)


def doors(
    what: Annotated[Doors, typer.Argument()],
    gate: Annotated[str, typer.Option(metavar="CODE", help="A closed gate instead of the event's doors.")] = "",
    event: Annotated[int | None, typer.Option(metavar="NUMBER")] = None,
    pin: PinOption = "-",
    home: HomeOption = None,
) -> None:
    """Open the doors of an event, or a closed gate, on this device. Asks for a supervisor's PIN."""
    _do(home, "doors", pin, opened=what is Doors.OPEN, gate=gate, event=event)


def empty_house(
    event: Annotated[int | None, typer.Option(metavar="NUMBER")] = None,
    pin: PinOption = "-",
    home: HomeOption = None,
) -> None:
    """Reset the count of people inside on this device. Asks for a supervisor's PIN."""
    _do(home, "empty-house", pin, event=event)


def correct_count(
    change: Annotated[
        int, typer.Argument(metavar="±N", help="How many more (or -N: fewer) are inside than were scanned.")
    ],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="How they were counted.")],
    zone: Annotated[int, typer.Option(metavar="NUMBER", help="Of one zone; without it, of the whole venue.")] = 0,
    pin: PinOption = "-",
    home: HomeOption = None,
) -> None:
    """Correct how many people are inside. Asks for a supervisor's PIN."""
    _do(home, "correct", pin, change=change, reason=reason, zone=zone)


def annul(
    seq: Annotated[
        int | None, typer.Argument(metavar="[SEQ]", min=1, help="The entry to take back; without it, list the latest.")
    ] = None,
    reason: Annotated[str, typer.Option(metavar="TEXT")] = "",
    pin: PinOption = "-",
    as_json: Annotated[bool, typer.Option("--json", help="The list as JSON lines.")] = False,
    home: HomeOption = None,
) -> None:
    """Take back an admission of the last 15 minutes: the guest did not go in. Asks for a supervisor's PIN."""
    if seq is None:
        _list_admissions(home, as_json=as_json)
    else:
        _do(home, "annul", pin, seq=seq, reason=reason)


def find(
    query: Annotated[str, typer.Argument(help="A ticket number, confirmation code, seat or name.")],
    home: HomeOption = None,
) -> None:
    """Find tickets by number, confirmation code, seat, or name where the event has names."""
    tickets = _answer(home, "find", {"query": query})["tickets"]
    for ticket in tickets:
        print_json(ticket)
    if not tickets:
        print_message("No ticket matches. Check it letter by letter.")


def loudness(
    percent: Annotated[
        int | None, typer.Argument(metavar="[PERCENT]", min=0, max=100, help="How loud sounds are; 0 is quiet.")
    ] = None,
    quiet: Annotated[
        bool | None, typer.Option("--quiet/--aloud", help="Nothing sounds for now, or as loud as before.")
    ] = None,
    home: HomeOption = None,
) -> None:
    """Show how loud the gate is, or change it; a running gate keeps to it at once."""
    answer = _answer(home, "loudness", {"percent": percent, "quiet": quiet})
    print_json({name: answer[name] for name in ("loudness", "quiet")})


def pair(
    role: Annotated[PairOption, typer.Argument(help="What the browser is for.")],
    name: Annotated[str, typer.Option(metavar="TEXT", help="Of a reader, such as 'side door'.")] = "",
    direction: Annotated[DirectionOption | None, typer.Option(help="Of a reader, where it is not the gate's.")] = None,
    pin: PinOption = "-",
    home: HomeOption = None,
) -> None:
    """Print a link that makes a browser a screen or a reader of the running gate, within ten minutes and once."""
    gate = require_running(home_at(home))
    typed = {"pin": commands.read_pin(pin)} if role is PairOption.SUPERVISOR else {}
    answer = gate.ask("pair", role=role.value, name=name, direction=direction.value if direction else "", **typed)
    if not answer["link"].startswith("http"):
        print_message("This gate has no screen: it was started with --headless.")
        raise typer.Exit(1)
    print_json({name: answer[name] for name in ("role", "link", "fingerprint") if name in answer})
    print_message(_drawn(answer["code"]))
    print_message("Open the link, or scan the code with the telephone's camera, within ten minutes. It works once.")
    if "fingerprint" in answer:
        print_message(f"Compare the fingerprint that its browser shows for the certificate: {answer['fingerprint']}")
    if "://127.0.0.1" in answer["link"]:
        print_message('It works on this machine only. For telephones: screen_host = "0.0.0.0" in gate.toml.')


def party(
    everybody: Annotated[bool, typer.Option("--all", help="Let in all who may come in.")] = False,
    only: Annotated[
        list[str] | None, typer.Option(metavar="NUMBER", help="Let in this ticket; can be repeated.")
    ] = None,
    nobody: Annotated[bool, typer.Option("--nobody", help="Take the list away.")] = False,
    home: HomeOption = None,
) -> None:
    """Show the tickets of the party that the running gate lists, or let all or some of them in."""
    if sum((everybody, bool(only), nobody)) > 1:
        raise typer.BadParameter("choose one of --all, --only and --nobody")
    gate = require_running(home_at(home))
    listed = gate.ask("party-listed")["party"]
    if nobody:
        gate.ask("party-end", party=listed["number"])
        print_message("Nobody in this party was let in.")
    elif everybody or only:
        print_json(
            gate.ask("party", party=listed["number"], **({} if everybody else {"tickets": _named(listed, only)}))
        )
    else:
        for member in listed["members"]:
            print_json({name: member[name] for name in ("standing", "reason", "message", "ticket")})


def _named(listed: dict[str, Any], numbers: list[str] | None) -> list[str]:
    """The ids of these tickets. Raises NotFound for a number that nobody of the party has."""
    ids = {str((one["ticket"] or {}).get("number")).upper(): one["id"] for one in listed["members"]}
    wanted = [number.strip().upper() for number in numbers or ()]
    strange = [number for number in wanted if number not in ids]
    if strange:
        raise NotFound(f"Nobody in this party has ticket {strange[0]}. Its tickets are: {', '.join(sorted(ids))}.")
    return [ids[number] for number in wanted]


def screens(
    remove: Annotated[str, typer.Option(metavar="ID", help="End this screen, such as a lost telephone's.")] = "",
    home: HomeOption = None,
) -> None:
    """List the paired screens of the running gate, or end one."""
    gate = require_running(home_at(home))
    answer = gate.ask("paired")
    if remove:
        if remove not in {screen["id"] for screen in answer["screens"]}:
            raise NotFound(f"There is no screen {remove}. List them with: gatehouse-gate screens.")
        answer = gate.ask("unpair", screen=remove)
    for screen in answer["screens"]:
        print_json({name: screen[name] for name in ("id", "role", "name", "paired_at", "until")})


def train(
    what: Annotated[OnOff, typer.Argument()],
    pin: PinOption = "-",
    home: HomeOption = None,
) -> None:
    """Switch the training mode of the running gate: every scan is a test. Asks for a supervisor's PIN."""
    require_running(home_at(home))
    _do(home, "train", pin, on=what is OnOff.ON)


def stand(
    gate: Annotated[str, typer.Argument(metavar="CODE", help="One of the gates that this device is allowed at.")],
    pin: PinOption = "-",
    home: HomeOption = None,
) -> None:
    """Move the running gate to another entrance. Asks for a supervisor's PIN."""
    require_running(home_at(home))
    _do(home, "stand", pin, gate=gate)


def set_time(
    now: Annotated[str, typer.Argument(metavar="ISO", help="The current time.")],
    pin: PinOption = "-",
    home: HomeOption = None,
) -> None:
    """Set the clock of a gate that cannot reach the server. Asks for a supervisor's PIN."""
    true = commands.parse_time(now)
    with open_context(home, "set-time") as context:
        context.supervisor_actions().require_plausible(true)
        by = context.supervisors.require(commands.read_pin(pin), context.roster, context.time.now().at)
        clock = clock_status(context.supervisor_actions().set_clock(true, by))
        print_json(clock)
        print_message(f"Clock set to {clock['now']} by {by.name}, until the gate reaches the server.")


@contextmanager
def open_context(home: Path | None, doing: str, *, create: bool = False) -> Iterator[GateContext]:
    """The gate of a home that no other process uses; says what is wrong with it."""
    with opened(home_at(home), this_host(), doing, create=create) as context:
        memory_lost = MEMORY_LOST_MESSAGE if memory_is_lost(context.database.connection) else ""
        for message in (context.database.cannot_write, memory_lost, *context.problems):
            print_message(message)
        yield context


def _do(home: Path | None, action: str, pin: str, **fields: Any) -> None:
    """Does what needs a PIN, and prints the journal's entry and what it means."""
    answer = _answer(home, action, fields, pin)
    print_json(answer["entry"])
    print_message(answer["message"])


def _answer(home: Path | None, action: str, fields: dict[str, Any], pin: str = "") -> dict[str, Any]:
    gate = running_gate(home_at(home))
    if gate is not None:
        return gate.ask(action, **fields, **_typed(pin))
    with open_context(home, action) as context:
        desk = context.desk(PrintedLamp(context.host.monotonic))
        return desk.perform(action, fields | _typed(pin), OWNER)


def _typed(pin: str) -> dict[str, str]:
    return {"pin": commands.read_pin(pin)} if pin else {}


def _list_admissions(home: Path | None, *, as_json: bool) -> None:
    from gate_app.command_line import admissions

    lines = admissions.latest(home_at(home), 20)
    for line in lines:
        print_json(line) if as_json else print(admissions.text(line))
    if not as_json:
        print_message("Take one back with: gatehouse-gate annul SEQ" if lines else "There is nothing to take back.")


def _drawn(code: list[str]) -> str:
    """A QR code of half blocks, light on dark as terminals are."""
    quiet = "0" * (len(code) + 4)
    rows = [quiet, quiet, *(f"00{row}00" for row in code), quiet, quiet]
    rows += [quiet] * (len(rows) % 2)
    blocks = {"00": "█", "01": "▀", "10": "▄", "11": " "}
    return "\n".join(
        "".join(blocks[upper + lower] for upper, lower in zip(rows[at], rows[at + 1], strict=True))
        for at in range(0, len(rows), 2)
    )
