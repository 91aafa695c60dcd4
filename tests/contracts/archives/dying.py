"""Runs work on old audit lines in a process of its own, which the system kills at a chosen moment."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pkgutil import resolve_name
from typing import Any, Final

from shared.clock import Millis
from sync_server.archives.audit_log import putting_away, segment_check
from sync_server.config import check
from sync_server.devices import identity
from sync_server.runtime import ServerRuntime, build_runtime

SIZES: Final = (
    (putting_away, "MOST", 5),
    (putting_away, "PIECE", 2),
    (putting_away, "PIECE_EMBEDDED", 2),
    (segment_check, "_PAGE", 2),
)
"""Files of five lines, which leave in three pieces and come back in as many."""
_PROCESSES = get_context("forkserver")
_PROCESSES.set_forkserver_preload([__name__])


@dataclass(frozen=True, slots=True)
class Moment:
    """Before or after the nth call of a function, which may be within an open transaction."""

    owner: str
    """Its module, or its class after a colon."""
    name: str
    nth: int = 1
    after: bool = False

    def __str__(self) -> str:
        return f"{'after' if self.after else 'before'}-{self.name}-{self.nth}"


def put_away(runtime: ServerRuntime, chain: str, before: Millis) -> None:
    """Put every line away that is older than this."""
    key = partial(identity.private_key, sealer=runtime.parts.sealer)
    for _ in putting_away.put_away(runtime.parts.database, runtime.parts.config, key, chain, before, least=1):
        pass


def restore(runtime: ServerRuntime, chain: str, before: Millis) -> None:
    """Bring the lines of the newest file back."""
    segment_check.restore(runtime.parts.database, runtime.parts.config, chain)


Work = Callable[[ServerRuntime, str, Millis], None]


def killed(settings: dict[str, Any], work: Work, moment: Moment, chain: str, before: Millis) -> bool:
    """Whether the process came to this moment, and so was killed there."""
    process = _PROCESSES.Process(target=_die, args=(settings, work, moment, chain, before))
    process.start()
    process.join()
    return process.exitcode == -signal.SIGKILL


def _die(settings: dict[str, Any], work: Work, moment: Moment, chain: str, before: Millis) -> None:
    runtime = build_runtime(check(settings))
    for module, name, size in SIZES:
        setattr(module, name, size)
    owner, calls = resolve_name(moment.owner), 0
    really = getattr(owner, moment.name)

    def watched(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        due = calls == moment.nth
        if due and not moment.after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = really(*arguments, **named)
        if due:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, moment.name, watched)
    work(runtime, chain, before)
