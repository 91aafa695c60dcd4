"""Opens what telephones need that read tickets for the running gate."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial

from gate_app.command_line.printing import print_message
from gate_app.gate_context import GateContext
from gate_app.installation.config import ReaderSettings
from gate_app.scanning.gathering import ScanOptions
from gate_app.screen.feed import Feed
from gate_app.screen.secure_server import SecureScreen
from gate_app.screen.server import ScreenServer
from gate_app.supervision.phones import Phones
from gate_app.supervision.screens import Screens
from gate_app.words import say
from hardware.devices import open_phone
from hardware.ports import CodeReader, SentPictures
from shared.errors import GatehouseError
from shared.tickets import looks_like_ticket


def open_phones(
    context: GateContext, screens: Screens, feed: Feed, serve: Callable[..., None], cleanup: ExitStack
) -> Phones:
    """The telephones that read tickets for this gate, as long as it runs."""

    def opened(name: str) -> SentPictures:
        return open_phone(name, context.host.monotonic, partial(feed.hint, reader=name), looks_like_ticket)

    def served(reader: CodeReader, direction: str, over: threading.Event) -> None:
        options = ScanOptions(direction or None)
        serve(reader, options=options, stop=over, words=lambda _fault: say("phone.away", name=reader.name))

    phones = Phones(screens, opened, served, feed.fault, lack=feed.lack, begin=feed.open_lane)
    cleanup.callback(phones.close)
    return phones


def open_secure_way(context: GateContext, phones: Phones, screen: ScreenServer, cleanup: ExitStack) -> None:
    """Telephones may come; the encrypted way is opened for the first of them, or again for those of before."""
    config = context.config
    way = SecureScreen(
        screen,
        config.screen_host,
        config.screen_secure_port,
        kept=context.home.certificate,
        names=config.screen_names,
        now=lambda: context.time.now().at,
    )
    cleanup.callback(way.close)
    phones.open_way, phones.way = way.open, lambda: way.way
    if phones.paired:
        try:
            way.open()
        except GatehouseError as why:
            print_message(why.message)


def names_of(readers: Iterable[tuple[ReaderSettings, CodeReader]], phones: Phones) -> tuple[str, ...]:
    """The readers of this gate by kind and name, for the server's page of the device."""
    fixed = [f"{settings.kind}: {reader.name}" for settings, reader in readers]
    return (*fixed, *(f"phone: {name}" for name in phones.names()))
