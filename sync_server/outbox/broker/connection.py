"""One connection to RabbitMQ, with an I/O loop on its own thread: publishes within a window and counts confirms."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

import pika
from pika.exchange_type import ExchangeType

from sync_server.outbox.broker import messages as broker_messages
from sync_server.outbox.broker.relay import Outcome
from sync_server.plumbing.jobs import Message

WINDOW = 500
"""Facts published but not confirmed yet: one at a time would take ten times as long."""
HEARTBEAT_S = 20
BLOCKED_S = 20
STOP_POLL_S = 0.1


class Batch:
    """Facts that are published together, and the outcome so far."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        self.outcome = Outcome()
        self.done = threading.Event()
        self._pending = len(messages)
        if not messages:
            self.done.set()

    def settle(self, record: Callable[[Outcome], None]) -> None:
        """Record the outcome of one fact."""
        record(self.outcome)
        self._pending -= 1
        if not self._pending:
            self.done.set()

    def break_off(self) -> None:
        """Give up waiting: facts without an outcome are sent again later."""
        if not self.done.is_set():
            self.outcome.outage = True
            self.done.set()


class BrokerConnection:
    """Everything runs on the thread that calls `serve`, except `post` and `hang_up`, which any thread may call."""

    def __init__(self, url: str, stop: threading.Event, opened: Callable[[], None]) -> None:
        """`opened` is called once facts can be posted; the connection closes by itself soon after the stop."""
        self._url, self._stop, self._opened = url, stop, opened
        self._connection: Any = None
        self._channel: Any = None
        self._tag = 0
        self._waiting: deque[tuple[Batch, Message]] = deque()
        self._unconfirmed: dict[int, tuple[Batch, Message]] = {}
        self._returned: set[str] = set()
        self._batches: set[Batch] = set()
        self._lock = threading.Lock()
        self._closed = False
        self.problem = ""
        self.blocked = False

    def serve(self) -> None:
        """Connect and publish facts until the connection breaks or is closed."""
        parameters = pika.URLParameters(self._url)
        parameters.heartbeat, parameters.blocked_connection_timeout = HEARTBEAT_S, BLOCKED_S
        parameters.socket_timeout = parameters.stack_timeout = 5
        self._connection = pika.SelectConnection(
            parameters,
            on_open_callback=self._open_channel,
            on_open_error_callback=lambda _connection, problem: self._connection_lost(problem),
            on_close_callback=lambda _connection, problem: self._connection_lost(problem),
        )
        self._poll_stop()
        try:
            self._connection.ioloop.start()
        finally:
            self._end()

    def post(self, batch: Batch) -> None:
        """From any thread: publish these, and set the batch done when all are confirmed."""
        with self._lock:
            if self._closed:
                batch.break_off()
                return
            self._batches.add(batch)
            self._connection.ioloop.add_callback_threadsafe(lambda: self._enqueue(batch))

    def hang_up(self) -> None:
        """From any thread: close; what is not confirmed is sent again over the next connection."""
        with self._lock:
            if not self._closed:
                self._connection.ioloop.add_callback_threadsafe(self._close)

    def _poll_stop(self) -> None:
        if self._stop.is_set():
            self._close()
        else:
            self._connection.ioloop.call_later(STOP_POLL_S, self._poll_stop)

    def _close(self) -> None:
        if self._connection.is_open:
            self._connection.close()
        elif not self._connection.is_closing:
            self._connection.ioloop.stop()

    def _open_channel(self, connection: Any) -> None:
        connection.add_on_connection_blocked_callback(lambda *_: self._block(blocked=True))
        connection.add_on_connection_unblocked_callback(lambda *_: self._block(blocked=False))
        connection.channel(on_open_callback=self._declare)

    def _block(self, *, blocked: bool) -> None:
        # The broker is out of memory or disk, and reads nothing until it has room again.
        self.blocked = blocked

    def _declare(self, channel: Any) -> None:
        self._channel = channel
        channel.add_on_close_callback(lambda _channel, problem: self._channel_closed(problem))
        channel.add_on_return_callback(lambda _channel, _method, props, _body: self._returned.add(props.message_id))
        channel.exchange_declare(
            broker_messages.EXCHANGE, ExchangeType.topic, durable=True, callback=self._ask_for_confirms
        )

    def _ask_for_confirms(self, _frame: Any) -> None:
        self._channel.confirm_delivery(self._confirmed, callback=lambda _frame: self._opened())

    def _channel_closed(self, problem: BaseException) -> None:
        if not self._connection.is_closing and not self._connection.is_closed:
            self.problem = self.problem or str(problem)
            self._connection.close()

    def _connection_lost(self, problem: BaseException) -> None:
        self.problem = self.problem or type(problem).__name__
        self._connection.ioloop.stop()

    def _end(self) -> None:
        with self._lock:
            self._closed = True
        self._connection.ioloop.close()
        for batch in self._batches:
            batch.break_off()

    def _enqueue(self, batch: Batch) -> None:
        self._waiting.extend((batch, message) for message in batch.messages)
        self._pump()

    def _pump(self) -> None:
        while self._waiting and len(self._unconfirmed) < WINDOW and self._channel.is_open:
            batch, message = self._waiting.popleft()
            self._tag += 1
            self._unconfirmed[self._tag] = batch, message
            self._channel.basic_publish(
                broker_messages.EXCHANGE,
                broker_messages.key(message),
                broker_messages.envelope(message),
                pika.BasicProperties(**broker_messages.properties(message)),
                mandatory=True,
            )

    def _confirmed(self, frame: Any) -> None:
        tag, multiple = frame.method.delivery_tag, frame.method.multiple
        refused = isinstance(frame.method, pika.spec.Basic.Nack)
        for confirmed in list(takewhile(tag.__ge__, self._unconfirmed)) if multiple else [tag]:
            batch, message = self._unconfirmed.pop(confirmed)
            self._settle(batch, message, refused=refused)
        self._pump()

    def _settle(self, batch: Batch, message: Message, *, refused: bool) -> None:
        returned = message.message_id in self._returned
        self._returned.discard(message.message_id)
        if refused:
            batch.settle(lambda outcome: outcome.failed.update({message.message_id: "The broker refused it."}))
        elif returned:
            batch.settle(lambda outcome: outcome.unrouted.append(message.message_id))
        else:
            batch.settle(lambda outcome: outcome.delivered.append(message.message_id))
        if batch.done.is_set():
            self._batches.discard(batch)
