"""Runs one program in a process group of its own and ends the whole group when whoever started the keeper is gone.

Started by path, with the standard library alone: `keeper.py STOP_SIGNAL PATIENCE USER PROGRAM [ARGUMENT…]`, where
USER is `-` for nobody else. The first line it prints is the program's process id. Its standard input is the leash:
when that closes, in order or because the other end was killed, the group gets STOP_SIGNAL and, after PATIENCE
seconds, the end.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading


def group_signal(group: int, number: int) -> None:
    """Tell everybody in the group; an empty group is fine."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return


def follow_leash(group: int, number: int, patience: float, ended: threading.Event) -> None:
    """Wait until the other end of standard input is gone, then end the group."""
    while os.read(0, 1024):
        continue
    group_signal(group, number)
    if not ended.wait(patience):
        group_signal(group, signal.SIGKILL)


def start(user: str, command: list[str]) -> subprocess.Popen[bytes]:
    """The program, leading its own group, as the user asked for."""
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
    """Keep the program until it ends or the leash is let go; answer its exit status."""
    number, patience, user, command = int(arguments[0]), float(arguments[1]), arguments[2], arguments[3:]
    program = start(user, command)
    print(program.pid, flush=True)
    ended = threading.Event()
    leash = threading.Thread(target=follow_leash, args=(program.pid, number, patience, ended), daemon=True)
    leash.start()
    status = program.wait()
    ended.set()
    group_signal(program.pid, signal.SIGKILL)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
