"""The command `gatehouse-gate simulate`."""

from __future__ import annotations

import signal
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gate_app.app import this_host
from gate_app.command_line.printing import print_json, print_message
from gate_app.gate_context import HostEnvironment
from shared.errors import GatehouseError

if TYPE_CHECKING:
    from gate_app.screen.feed import Feed
    from gate_app.simulation.rehearsal import Plan, Rehearsal
    from hardware.simulated.camera import Tempo

BOOT = b"rehearse"
MOST_PEOPLE = 100_000


def _size(text: str) -> str:
    width, _, height = text.partition("x")
    if not (width.isascii() and width.isdigit() and height.isascii() and height.isdigit()):
        raise typer.BadParameter("write it as 640x480")
    if not (320 <= int(width) <= 1920 and 240 <= int(height) <= 1080):
        raise typer.BadParameter("choose one from 320x240 to 1920x1080")
    return text


def simulate(  # noqa: PLR0917 - options, which typer passes by name
    people: Annotated[int, typer.Option(min=1, max=MOST_PEOPLE, help="How many guests come.")] = 20,
    a_minute: Annotated[float, typer.Option(min=1, max=60, help="How many come a minute, on average.")] = 30,
    trouble: Annotated[
        int, typer.Option(metavar="PERCENT", min=0, max=100, help="How many bring a used, cancelled or forged ticket.")
    ] = 10,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same guests.")] = 1,
    size: Annotated[str, typer.Option(callback=_size, help="The camera's picture.")] = "640x480",
    frames: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Save every picture with a guest in this new or empty folder.")
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="In real time, with the gate's screen.")] = False,
    screen: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65535, help="Port of the screen, with --live.")
    ] = 8100,
) -> None:
    """Let invented guests come to an invented event, to try out and to train: camera, decoder and gate are real."""
    try:
        from gate_app.simulation.rehearsal import Plan
    except ImportError as why:
        from hardware.devices import CAMERA_REMEDY

        raise GatehouseError(f"A library for reading codes from images is missing ({why}). {CAMERA_REMEDY}.") from why
    width, height = (int(side) for side in size.split("x"))
    plan = Plan(people, a_minute, seed, width, height, trouble / 100, _new_folder(frames))
    with tempfile.TemporaryDirectory(prefix="gatehouse-rehearsal-") as folder, ExitStack() as cleanup:
        rehearsal = _live(plan, Path(folder), screen, cleanup) if live else _at_once(plan, Path(folder), cleanup)
        print_json(rehearsal.run())


def _new_folder(frames: Path | None) -> Path | None:
    if frames is None:
        return None
    try:
        frames.mkdir(parents=True, exist_ok=True)
        if any(frames.iterdir()):
            raise typer.BadParameter(f"{frames} is not empty", param_hint="--frames")
    except OSError as why:
        raise typer.BadParameter(f"{frames}: {why.strerror}", param_hint="--frames") from why
    return frames


def _at_once(plan: Plan, folder: Path, cleanup: ExitStack) -> Rehearsal:
    from hardware.simulated.camera import AtOnce

    tempo, here = AtOnce(), this_host()
    began = here.wall()
    host = HostEnvironment(lambda: began + tempo.now_ns() // 1_000_000, tempo.now_ns, here.entropy, BOOT, here.software)
    return _opened(plan, folder, tempo, host, cleanup)


def _live(plan: Plan, folder: Path, port: int, cleanup: ExitStack) -> Rehearsal:
    from gate_app.screen.feed import Feed
    from gate_app.screen.live_pictures import LivePictures
    from gate_app.screen.server import ScreenServer
    from hardware.simulated.camera import AsItIs

    stop, host = threading.Event(), this_host()
    feed = Feed(host.monotonic)
    rehearsal = _opened(plan, folder, AsItIs(host.monotonic, stop), host, cleanup, feed)
    reader = rehearsal.reader
    server = ScreenServer(feed, port=port, pictures=LivePictures({reader.name: reader})).open()
    cleanup.callback(server.close)
    print_message(f"The gate's screen: {server.address} (Ctrl-C ends the simulation)")

    def end(_number: int, _frame: object) -> None:
        stop.set()
        rehearsal.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    return rehearsal


def _opened(  # noqa: PLR0917 - what a rehearsal is made of
    plan: Plan, folder: Path, tempo: Tempo, host: HostEnvironment, cleanup: ExitStack, feed: Feed | None = None
) -> Rehearsal:
    from gate_app.simulation.rehearsal import Rehearsal

    rehearsal = Rehearsal(plan, folder, tempo, host, report=print_json, feed=feed)
    cleanup.callback(rehearsal.close)
    return rehearsal
