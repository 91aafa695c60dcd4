"""Runs a demo server and gate until Ctrl-C, or checks the main job once and exits."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from scripts.arguments import Arguments
from scripts.local_stack import demo, progress
from scripts.local_stack.layout import ROOT, FolderTakenError, PortTakenError, StackLayout
from scripts.local_stack.main_job import run_main_job
from scripts.local_stack.programs import CommandFailedError
from scripts.processes.child import ProgramFailedError
from scripts.processes.ports import free_port

VAR = ROOT / "var"
CHECK_FOLDER = "CHECK_FOLDER"
"""Where the folder of a check is made instead, so that checks side by side do not see each other's."""


def arguments() -> argparse.Namespace:
    """The command line, parsed."""
    parser = Arguments(prog="scripts/run", description=__doc__)
    parser.add_argument("--port", type=_port, help="the server's port (8000)")
    parser.add_argument("--gate-port", type=_port, help="the gate screen's port (8100)")
    parser.add_argument("--check", action="store_true", help="check the main job once over real HTTP, then exit")
    return parser.parse_args()


def _port(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"{text} is not a port; ports are numbers from 1 to 65535")
    return int(text)


def run_demo(layout: StackLayout) -> int:
    """Run the demo until it is stopped."""
    layout.require_free_ports()
    with layout.locked():
        demo.run(layout)
    return 0


def run_check(layout: StackLayout) -> int:
    """Check the main job in a temporary folder, which is kept if the check fails."""
    passed = run_main_job(layout)
    if passed:
        shutil.rmtree(layout.folder)
    else:
        progress.console.print(f"Logs: {layout.folder}", markup=False)
    return 0 if passed else 1


def layout_for_check(options: argparse.Namespace) -> StackLayout:
    """Free ports, unless ports are given, and a temporary folder."""
    VAR.mkdir(exist_ok=True)
    layout = StackLayout(VAR, options.port or free_port(), options.gate_port or free_port())
    layout.require_free_ports()
    folder = Path(os.environ.get(CHECK_FOLDER, VAR))
    return replace(layout, folder=Path(tempfile.mkdtemp(prefix="check-", dir=folder)))


def main() -> int:
    """Return the exit status: 0 on success; stopping the demo with Ctrl-C is success."""
    options = arguments()
    # A shell that starts a script in the background makes it ignore Ctrl-C; then it could not be stopped cleanly.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        if options.check:
            return run_check(layout_for_check(options))
        return run_demo(StackLayout(VAR, options.port or 8000, options.gate_port or 8100))
    except KeyboardInterrupt:
        progress.console.print("\nStopped.")
        return 130 if options.check else 0
    except (CommandFailedError, FolderTakenError, PortTakenError, ProgramFailedError) as error:
        progress.show_failure(str(error))
        return 1
    except PermissionError as error:
        progress.show_failure(f"{error.filename} is not writable. Run this as its owner.")
        return 1


if __name__ == "__main__":
    sys.exit(main())
