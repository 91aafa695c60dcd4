"""Runs a program in its own process group and ends the group when the keeper's parent is gone.

Started by path, with the standard library alone: `keeper.py STOP_SIGNAL STOP_TIMEOUT USER PROGRAM [ARGUMENT…]`, where
USER is `-` for the current user. The first line it prints is the program's process id. When its standard input closes,
on purpose or because the parent was killed, the group gets STOP_SIGNAL and, after STOP_TIMEOUT seconds, SIGKILL.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading


def group_signal(group: int, number: int) -> None:
    """Signal every process of the group, if there are any left."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return


def stop_when_orphaned(group: int, number: int, stop_timeout: float, ended: threading.Event) -> None:
    """Wait until standard input closes, then stop the group."""
    while os.read(0, 1024):
        continue
    group_signal(group, number)
    if not ended.wait(stop_timeout):
        group_signal(group, signal.SIGKILL)


def start(user: str, command: list[str]) -> subprocess.Popen[bytes]:
    """Start the program as leader of its own process group, as the given user."""
    account = None if user == "-" else user
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        stderr=sys.stderr,
        process_group=0,
        user=account,
        group=account,
        extra_groups=[] if account else None,
    )


def main(arguments: list[str]) -> int:
    """Run the program until it exits or standard input closes; return its exit status."""
    number, stop_timeout, user, command = int(arguments[0]), float(arguments[1]), arguments[2], arguments[3:]
    program = start(user, command)
    print(program.pid, flush=True)
    ended = threading.Event()
    watcher = threading.Thread(target=stop_when_orphaned, args=(program.pid, number, stop_timeout, ended), daemon=True)
    watcher.start()
    status = program.wait()
    ended.set()
    group_signal(program.pid, signal.SIGKILL)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
