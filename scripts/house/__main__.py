"""Starts the house with a demo and keeps it until Ctrl-C, or walks the main job once and ends."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from scripts.house import demo, words
from scripts.house.place import ROOT, FolderTakenError, Place, PortTakenError
from scripts.house.programs import CommandFailedError
from scripts.house.walk import walk
from scripts.processes.child import ProgramFailedError
from scripts.processes.ports import free_port

VAR = ROOT / "var"


def arguments() -> argparse.Namespace:
    """What the caller wants."""
    parser = argparse.ArgumentParser(prog="scripts/run", description=__doc__)
    parser.add_argument("--port", type=_port, help="the server's port (8000)")
    parser.add_argument("--gate-port", type=_port, help="the gate screen's port (8100)")
    parser.add_argument("--check", action="store_true", help="walk the main job once over real HTTP, then end")
    return parser.parse_args()


def _port(word: str) -> int:
    if not word.isdigit() or not 0 < int(word) < 65536:
        raise argparse.ArgumentTypeError(f"{word} is no port; ports are numbers from 1 to 65535")
    return int(word)


def keep(place: Place) -> int:
    """The demo, until somebody ends it."""
    place.require_free_ports()
    with place.alone():
        demo.serve(place)
    return 0


def check(place: Place) -> int:
    """The walk, in a folder of its own that is kept only when something went wrong."""
    holds = walk(place)
    if holds:
        shutil.rmtree(place.folder)
    else:
        words.console.print(f"What the programs said lies in {place.folder}", markup=False)
    return 0 if holds else 1


def place_for_check(wanted: argparse.Namespace) -> Place:
    """Ports and a folder that disturb nobody, unless ports are asked for."""
    VAR.mkdir(exist_ok=True)
    place = Place(VAR, wanted.port or free_port(), wanted.gate_port or free_port())
    place.require_free_ports()
    return replace(place, folder=Path(tempfile.mkdtemp(prefix="check-", dir=VAR)))


def main() -> int:
    """Exit status 0 when all went well; being interrupted is going well."""
    wanted = arguments()
    # A shell that starts a script in the background tells it to ignore Ctrl-C; then nothing could end it in order.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        if wanted.check:
            return check(place_for_check(wanted))
        return keep(Place(VAR, wanted.port or 8000, wanted.gate_port or 8100))
    except KeyboardInterrupt:
        words.console.print("\nStopped.")
        return 130 if wanted.check else 0
    except (CommandFailedError, FolderTakenError, PortTakenError, ProgramFailedError) as trouble:
        words.went_wrong(str(trouble))
        return 1
    except PermissionError as trouble:
        words.went_wrong(f"{trouble.filename} is not yours to write. Run this as the user who owns it.")
        return 1


if __name__ == "__main__":
    sys.exit(main())
