"""Opens lamps and barrier of the running gate, and listens to what the barrier tells."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from gate_app.command_line.printing import print_message
from gate_app.gate_context import GateContext
from gate_app.indicators import Indicators
from gate_app.running.emergencies import record_emergency
from gate_app.running.scanner_pipe import feed_from_pipe
from gate_app.scanning.parties import Parties
from gate_app.scanning.turns import MOST_WITHOUT_A_TURN, Turns
from gate_app.screen.feed import Feed
from gate_app.words import say
from hardware.devices import open_barrier, open_indicators
from hardware.fakes import FakeTurnstile
from hardware.ports import Barrier, DeviceError
from shared.errors import GatehouseError, SettingsError

BARRIER = "barrier"


def open_outputs(context: GateContext, feed: Feed, cleanup: ExitStack) -> tuple[Indicators, Turns | None]:
    """Lamps and barrier, and who went through it; None without a barrier. Raises SettingsError."""
    config, turns = context.config, _turns(context, feed)
    try:
        indicators = open_indicators(config.indicators, config.signals)
        emergency = partial(record_emergency, context, feed)
        barrier = open_barrier(config.barrier, config.signals, emergency, turns.turned)
    except DeviceError as why:
        raise SettingsError(str(why)) from why
    outputs = Indicators(
        indicators,
        barrier,
        lambda fault: feed.fault(fault.device, str(fault)),
        lambda device: feed.fault(device, None),
    )
    cleanup.callback(outputs.close)
    if barrier is None:
        return outputs, None
    turns.told = barrier.tells_turns
    _simulate(barrier, context.home.folder / "turnstile", feed, cleanup)
    return outputs, turns


def parties_of(context: GateContext, feed: Feed, turns: Turns | None, stop: threading.Event) -> Parties:
    """What is presented at this gate's readers."""
    return Parties(
        context.gate,
        context.time.monotonic_ms,
        asks=context.config.party == "choose",
        turns=turns,
        show=feed.party,
        stop=stop,
    )


def _turns(context: GateContext, feed: Feed) -> Turns:
    def take_back(seq: int) -> None:
        try:
            context.supervisor_actions().take_back_unturned(seq)
        except (GatehouseError, sqlite3.Error) as why:
            # It stays an admission; the people at the gate must know.
            feed.fault(BARRIER, str(why))
        else:
            feed.taken_back(seq)
            feed.tell(say("turn.taken_back", number=seq))

    def report(broken: bool) -> None:
        feed.fault("turnstile", say("turn.broken", n=MOST_WITHOUT_A_TURN) if broken else None)

    return Turns(
        told=False,
        within_ms=context.config.turn_ms,
        untold_ms=context.config.pins.open_ms,
        keeps=context.config.unturned == "keep",
        monotonic_ms=context.time.monotonic_ms,
        take_back=take_back,
        report=report,
    )


def _simulate(barrier: Barrier, pipe: Path, feed: Feed, cleanup: ExitStack) -> None:
    """Each line written to the pipe of a simulated turnstile is somebody who goes through, if it is open."""
    if not isinstance(barrier, FakeTurnstile):
        return
    over = threading.Event()

    def turn(_line: str) -> None:
        barrier.turn()

    def run() -> None:
        try:
            feed_from_pipe(pipe, turn, over)
        except OSError as why:
            feed.fault(BARRIER, f"The simulated turnstile has no pipe: {why.strerror}.")

    thread = threading.Thread(target=run, name="turnstile pipe", daemon=True)
    cleanup.callback(thread.join, 3.0)
    cleanup.callback(over.set)
    thread.start()
    print_message(f"Simulated turnstile: write a line to {pipe} for each guest who goes through")
