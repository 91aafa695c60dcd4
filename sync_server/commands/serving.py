"""Starts the server process, and the worker where it runs alone."""

from __future__ import annotations

import os
import signal
import socket
import threading

from apiflask import APIFlask

from shared.errors import SettingsError
from sync_server import config as settings
from sync_server.app import Ground, build, prepare, web_of
from sync_server.commands.ground import ground, say
from sync_server.plumbing import metrics_address
from sync_server.plumbing.logs import LOG
from sync_server.workers import Worker

# Bursts of a thousand connections hang for half a minute with the server's own figures.
BACKLOG = 4096
BACKPRESSURE = 2048
KILL_AFTER_S = 3


def serve(host: str, port: int, processes: int) -> None:
    """Answer requests until told to stop; on SQLite one process answers, and works too."""
    from granian.constants import Interfaces
    from granian.log import LogLevels
    from granian.server import Server

    config = settings.from_environment()
    with ground():
        pass  # mistakes in settings, key or schema are told here, by the process that the operator started
    _require_free(host, port)
    say(f"Gatehouse answers at http://{host}:{port}/")
    Server(
        "sync_server.commands.serving:serving_app",
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        factory=True,
        workers=1 if config.embedded else processes,
        blocking_threads=config.blocking_threads,
        backlog=BACKLOG,
        backpressure=BACKPRESSURE,
        workers_kill_timeout=KILL_AFTER_S,
        log_level=LogLevels.warning,
        log_access=False,
    ).serve()


def _require_free(host: str, port: int) -> None:
    """SettingsError where nobody can listen there; the server itself would tell it with a traceback."""
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, number) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen()
    except OSError as problem:
        raise SettingsError(
            f"Nobody can listen at {host} port {port}: {problem.strerror}. Stop what listens there, "
            "or choose another address: --host, --port."
        ) from None


def serving_app() -> APIFlask:
    """What a server process loads: everything from the environment; on SQLite the worker runs inside it."""
    config = settings.from_environment()
    here = build(config)
    prepare(here)
    start_loops(here, here.parts.stop)
    for loop in here.parts.loops:
        threading.Thread(target=loop, args=(here.parts.stop,), name="loop", daemon=True).start()
    _stop_when_told(here)
    try:
        tell_measures(here)
    except SettingsError as problem:  # no reason to turn guests away: the measures are at /metrics, too
        LOG.error("measures_not_told", problem=problem.message)
    if config.embedded:
        threading.Thread(target=Worker(here.parts).run, args=(here.parts.stop,), name="worker", daemon=True).start()
    return web_of(here)


def _stop_when_told(here: Ground) -> None:
    """End long polls and streams when the process is told to end: the server waits for them, and would kill them.

    The server's own handlers come after this; a wake-up descriptor is written to whoever handles the signal.
    """
    heard, told = socket.socketpair()
    told.setblocking(False)
    signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)

    def wait() -> None:
        with told:
            while heard.recv(1)[0] not in {signal.SIGTERM, signal.SIGINT}:
                pass
            here.parts.stop.set()
            here.bell.wake_all()

    threading.Thread(target=wait, name="stop", daemon=True).start()


def start_loops(here: Ground, stop: threading.Event) -> None:
    """Stay in touch with other processes."""
    for loop in here.parts.nearby.loops:
        threading.Thread(target=loop, args=(stop,), name="nearby", daemon=True).start()


def tell_measures(here: Ground) -> int | None:
    """Let Prometheus read this process's own measures where the settings say so; the port, if there is one."""
    if here.parts.config.metrics_at is None:
        return None
    port, _ = metrics_address.tell_at(*here.parts.config.metrics_at, here.parts.metrics)
    return port


def work(metrics: str | None = None) -> None:
    """Deliver facts and do the periodic jobs until told to stop; `metrics` is said instead of the setting."""
    said = {} if metrics is None else {"GATEHOUSE_METRICS_ADDRESS": metrics}
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with ground(settings.load(os.environ | said)) as here:
        start_loops(here, stop)
        port = tell_measures(here)
        say("The worker works." if port is None else f"The worker works; its measures are at port {port}, /metrics.")
        Worker(here.parts).run(stop)
