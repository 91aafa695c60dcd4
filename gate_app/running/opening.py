"""Opens the readers of a gate that starts: its screen says what it waits for, and a service waits until it is there."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path

from gate_app.command_line.printing import print_message
from gate_app.gate_context import GateContext
from gate_app.installation.config import ReaderSettings
from gate_app.running.scanner_pipe import feed_from_pipe
from gate_app.screen.feed import Feed
from gate_app.status import status
from gate_app.words import listed, say
from hardware.devices import open_reader
from hardware.fakes import FakeReader
from hardware.ports import CodeReader, DeviceError, ReaderKind
from shared.errors import SettingsError
from shared.tickets import is_whole, looks_like_ticket

TRY_AGAIN_S = 2.0
CLOSING_S = 3.0

Opened = list[tuple[ReaderSettings, CodeReader]]


def readers_wanted(context: GateContext, kinds: tuple[str, ...]) -> tuple[ReaderSettings, ...]:
    """The readers of the command line, or those of the settings. Raises SettingsError if there are none."""
    wanted = tuple(ReaderSettings.model_validate({"kind": kind}) for kind in kinds) or context.config.readers
    if not wanted:
        raise SettingsError(f"No reader is configured. Use --reader, or add one to {context.home.settings}.")
    return wanted


def being_opened(wanted: tuple[ReaderSettings, ...]) -> str:
    """What the gate does just now, for its screen."""
    return say("starting.readers", readers=listed([one.options.name or one.kind for one in wanted], "and"))


def open_readers(
    context: GateContext,
    wanted: tuple[ReaderSettings, ...],
    feed: Feed,
    stop: threading.Event,
    cleanup: ExitStack,
    *,
    patient: bool,
) -> Opened:
    """All of them, or none once `stop` is set. Raises SettingsError for one that is missing.

    A patient gate says on its screen what is missing, and tries again: it works as soon as somebody plugs it in.
    """
    while True:
        try:
            with ExitStack() as undo:
                readers = [(settings, _open_reader(context, settings, feed, stop, undo)) for settings in wanted]
                cleanup.push(undo.pop_all())
                # A telephone gets a lane when it is paired; here it was tried whether its pictures could be read.
                return [each for each in readers if each[0].kind is not ReaderKind.PHONE]
        except SettingsError as why:
            if not patient:
                raise
            print_message(why.message)
            feed.starting(why.message)
        feed.status(status(context.status_source()))
        if stop.wait(TRY_AGAIN_S):
            return []


def _open_reader(
    context: GateContext, settings: ReaderSettings, feed: Feed, stop: threading.Event, cleanup: ExitStack
) -> CodeReader:
    try:
        reader = open_reader(
            settings.options, context.host.monotonic, stop, feed.hint, looks_like_ticket, whole=is_whole
        )
    except DeviceError as why:
        raise SettingsError(str(why)) from why
    cleanup.callback(reader.close)
    if isinstance(reader, FakeReader):
        _feed_by_pipe(reader, context.home.folder / "scanner", feed, cleanup)
    return reader


def _feed_by_pipe(reader: FakeReader, pipe: Path, feed: Feed, cleanup: ExitStack) -> None:
    """Each line written to the pipe of a simulated scanner is a code that it reads."""
    over = threading.Event()

    def run() -> None:
        try:
            feed_from_pipe(pipe, reader.scan, over)
        except OSError as why:
            feed.fault(reader.name, f"The simulated scanner has no pipe: {why.strerror}.")

    thread = threading.Thread(target=run, name="scanner pipe", daemon=True)
    cleanup.callback(thread.join, CLOSING_S)
    cleanup.callback(over.set)
    thread.start()
    print_message(f"Simulated scanner: write codes to {pipe}, one per line")
