"""Starts the server processes, and the standalone worker."""

from __future__ import annotations

import os
import signal
import socket
import threading
from functools import partial

from apiflask import APIFlask

from shared.errors import SettingsError
from shared.garbage import keep_for_good
from sync_server import config as settings
from sync_server.app import web_app
from sync_server.commands.console import echo, open_runtime
from sync_server.migrations import schema
from sync_server.plumbing.sql.connecting import Limits
from sync_server.plumbing.telemetry import metrics_server
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.runtime import ServerRuntime, build_runtime, prepare_database
from sync_server.waiting import listener
from sync_server.waiting.listener import StreamsListener
from sync_server.workers import Worker

# With Granian's defaults, bursts of a thousand connections hang for half a minute.
BACKLOG = 4096
BACKPRESSURE = 2048
KILL_AFTER_S = 10
"""Requests that take longer are cut when the server stops; streams end at once."""
FINISH_WITHIN_S = 8
"""Likewise what the worker of this process is at; another does it again after the start."""
LOCK_S = 20
"""Longer than this nobody waits for another's change."""
IDLE_S = 60
"""No request leaves its transaction open so long."""
LOOK_AGAIN_S = 0.5
"""How often the main thread of a process that stops is woken to look for signals."""
STREAMS_ADDRESS = "GATEHOUSE_STREAMS_ADDRESS"


OFF = "off"
"""Instead of an address: another process holds the streams."""


def serve(host: str, port: int, processes: int, streams: str | None = None) -> None:
    """Answer requests until stopped; on SQLite a single process answers them and runs the worker.

    Every process also listens for streams at `streams`, by default at the next port that is free.
    """
    from granian.constants import Interfaces
    from granian.log import LogLevels

    from sync_server.commands.draining import DrainingServer

    keep_for_good()  # before it forks: searched once, and shared by all processes
    _choose_streams_address(host, port, streams)
    config = settings.from_environment()
    with (
        open_runtime() as runtime
    ):  # mistakes in settings, key or schema are reported by the process the operator started
        schema.require_declared(runtime.parts.database.engine)
    _require_free(host, port)
    echo(f"Gatehouse is running at http://{host}:{port}/")
    if config.streams_address is not None:
        _require_free(*(config.streams_endpoint or (host, port)))
        echo(f"Streams are at http://{config.streams_address}/")
    DrainingServer(
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
        respawn_failed_workers=True,
        log_level=LogLevels.warning,
        log_access=False,
        drain_seconds=config.drain_seconds,
    ).serve()


def _choose_streams_address(host: str, port: int, streams: str | None) -> None:
    """Put the address into the environment, from where each server process takes it."""
    if streams == OFF:
        os.environ.pop(STREAMS_ADDRESS, None)
        return
    if streams is None and STREAMS_ADDRESS not in os.environ:
        streams = f"{f'[{host}]' if ':' in host else host}:{_free_port_after(host, port)}"
    if streams is not None:
        os.environ[STREAMS_ADDRESS] = streams


def _free_port_after(host: str, port: int) -> int:
    """The next port, or any other where that is taken."""
    for candidate in (port + 1, 0):
        try:
            with listener.open_socket(host, candidate, shared=False) as opened:
                return int(opened.getsockname()[1])
        except (OSError, OverflowError):
            continue
    raise SettingsError(
        f"{host} is not an address of this machine. Choose one with --host, such as 127.0.0.1, or 0.0.0.0 for all."
    )


def _require_free(host: str, port: int) -> None:
    """SettingsError if the port cannot be listened on; Granian itself would fail with a traceback."""
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, number) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen()
    except OSError as error:
        raise SettingsError(
            f"Cannot listen on {host} port {port}: {error.strerror}. Stop the program that uses it, "
            "or choose another address with --host or --port."
        ) from None


def serving_app() -> APIFlask:
    """The application of a server process, from the environment; on SQLite it includes the worker."""
    config = settings.from_environment()
    runtime = build_runtime(config, limits=Limits(config.statement_seconds, LOCK_S, IDLE_S))
    prepare_database(runtime)
    start_background_loops(runtime, runtime.parts.stop)
    app = web_app(runtime)
    for loop in runtime.parts.loops:
        threading.Thread(target=loop, args=(runtime.parts.stop,), name="loop", daemon=True).start()
    _stop_on_signal(runtime)
    start_metrics_endpoint(runtime, required=False)
    if config.embedded:  # no daemon: what it is at is finished
        working = partial(Worker(runtime.parts).run, runtime.parts.stop, FINISH_WITHIN_S)
        threading.Thread(target=working, name="worker").start()
    start_streams(runtime, app)
    keep_for_good()
    return app


def start_streams(runtime: ServerRuntime, app: APIFlask) -> StreamsListener | None:
    """Listen for streams on a thread of this process, if the settings say so."""
    endpoint = runtime.parts.config.streams_endpoint
    if endpoint is None:
        return None
    streams = StreamsListener(runtime.parts, app, listener.open_socket(*endpoint))
    streams.thread.start()
    return streams


def hold_streams(address: str) -> None:
    """Hold streams and gates' long polls until stopped, in a process of its own; PostgreSQL only."""
    keep_for_good()
    config = settings.load(os.environ | {STREAMS_ADDRESS: address})
    if config.embedded:
        raise SettingsError("On SQLite `serve` itself holds the streams: use its option --streams.")
    with open_runtime(config) as runtime:
        schema.require_declared(runtime.parts.database.engine)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: runtime.parts.stop.set())
        start_background_loops(runtime, runtime.parts.stop)
        start_metrics_endpoint(runtime, required=False)
        streams = start_streams(runtime, web_app(runtime))
        echo(f"Streams are at http://{address}/")
        while streams is not None and streams.thread.is_alive():
            streams.thread.join(0.5)  # signals are handled in between


def _stop_on_signal(runtime: ServerRuntime) -> None:
    """End long polls and streams on SIGTERM and SIGINT, because Granian waits for them and then kills them.

    Granian installs its signal handlers later; the wake-up descriptor is written to whatever handler is set.
    """
    from sync_server.commands.draining import DRAIN

    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    signal.signal(DRAIN, lambda *_: None)
    signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)

    def wait() -> None:
        with sender:  # open as long as the process lives: a second signal is written to it too
            while not runtime.parts.stop.is_set():
                number = receiver.recv(1)[0]
                if number in {DRAIN, signal.SIGTERM, signal.SIGINT}:
                    runtime.parts.draining.set()
                if number in {signal.SIGTERM, signal.SIGINT}:
                    runtime.parts.stop.set()
            _wake_main_thread(DRAIN)

    threading.Thread(target=wait, name="stop", daemon=True).start()


def _wake_main_thread(harmless: signal.Signals) -> None:
    """Let Granian see the signal by which this process stops, until the process ends.

    Only the main thread calls handlers. While it is at one signal, as at DRAIN, the next may arrive at another thread:
    the main one then sleeps on, and the process with it.
    """
    main, never = threading.main_thread().ident or 0, threading.Event()
    while not never.wait(LOOK_AGAIN_S):
        signal.pthread_kill(main, harmless)


def start_background_loops(runtime: ServerRuntime, stop: threading.Event) -> None:
    """Start the threads that keep in touch with other processes."""
    for loop in runtime.parts.backends.loops:
        threading.Thread(target=loop, args=(stop,), name="backends", daemon=True).start()


def start_metrics_endpoint(runtime: ServerRuntime, *, required: bool) -> int | None:
    """Serve this process's own metrics to Prometheus, if the settings say so; the port, or None.

    Where it cannot listen, that is logged, or is a SettingsError if `required`.
    """
    endpoint = runtime.parts.config.metrics_endpoint
    try:
        return None if endpoint is None else metrics_server.serve_metrics(*endpoint, runtime.parts.metrics)[0]
    except SettingsError as error:
        if required:
            raise
        LOG.error("measures_not_told", problem=error.message)
        return None


def work(metrics: str | None = None) -> None:
    """Deliver facts and run periodic jobs until stopped; `metrics` overrides the setting."""
    keep_for_good()
    overrides = {} if metrics is None else {"GATEHOUSE_METRICS_ADDRESS": metrics}
    with open_runtime(settings.load(os.environ | overrides)) as runtime:
        stop = runtime.parts.stop  # jobs that take long look at it too
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        schema.require_declared(runtime.parts.database.engine)
        start_background_loops(runtime, stop)
        port = start_metrics_endpoint(runtime, required="metrics_address" in runtime.parts.config.model_fields_set)
        keep_for_good()
        echo("Worker started." if port is None else f"Worker started; metrics are at port {port}, /metrics.")
        Worker(runtime.parts).run(stop)
