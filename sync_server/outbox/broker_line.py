"""One connection to RabbitMQ, on the thread of its own loop: publishes in a window and counts confirms."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

import pika
from pika.exchange_type import ExchangeType

from sync_server.outbox import letters
from sync_server.outbox.deliveries import Outcome
from sync_server.plumbing.work import Message

WINDOW = 500
"""Facts under way without a confirm: one by one takes ten times as long."""
HEARTBEAT_S = 20
BLOCKED_S = 20
LOOK_FOR_STOP_S = 0.1


class Batch:
    """Facts that somebody waits for, and what is known of them."""

    def __init__(self, messages: Sequence[Message]) -> None:
        """Nothing is known yet."""
        self.messages = messages
        self.outcome = Outcome()
        self.done = threading.Event()
        self._left = len(messages)
        if not messages:
            self.done.set()

    def settle(self, note: Callable[[Outcome], None]) -> None:
        """One fact more is known."""
        note(self.outcome)
        self._left -= 1
        if not self._left:
            self.done.set()

    def break_off(self) -> None:
        """The rest will not be known: it goes again later."""
        if not self.done.is_set():
            self.outcome.outage = True
            self.done.set()


class BrokerLine:
    """Everything happens on the thread that calls `serve`, but for `post` and `hang_up`, which any thread may call."""

    def __init__(self, url: str, stop: threading.Event, opened: Callable[[], None]) -> None:
        """`opened` is called once facts can be posted; the line ends by itself soon after the stop."""
        self._url, self._stop, self._opened = url, stop, opened
        self._connection: Any = None
        self._channel: Any = None
        self._tag = 0
        self._waiting: deque[tuple[Batch, Message]] = deque()
        self._under_way: dict[int, tuple[Batch, Message]] = {}
        self._returned: set[str] = set()
        self._batches: set[Batch] = set()
        self._turn = threading.Lock()
        self._over = False
        self.problem = ""
        self.blocked = False

    def serve(self) -> None:
        """Connect and carry facts until the line breaks or is closed."""
        parameters = pika.URLParameters(self._url)
        parameters.heartbeat, parameters.blocked_connection_timeout = HEARTBEAT_S, BLOCKED_S
        parameters.socket_timeout = parameters.stack_timeout = 5
        self._connection = pika.SelectConnection(
            parameters,
            on_open_callback=self._open_channel,
            on_open_error_callback=lambda _connection, problem: self._broken(problem),
            on_close_callback=lambda _connection, problem: self._broken(problem),
        )
        self._look_for_stop()
        try:
            self._connection.ioloop.start()
        finally:
            self._end()

    def post(self, batch: Batch) -> None:
        """From any thread: carry these, and set the batch done."""
        with self._turn:
            if self._over:
                batch.break_off()
                return
            self._batches.add(batch)
            self._connection.ioloop.add_callback_threadsafe(lambda: self._enqueue(batch))

    def hang_up(self) -> None:
        """From any thread: end it; what is not confirmed goes again over the next line."""
        with self._turn:
            if not self._over:
                self._connection.ioloop.add_callback_threadsafe(self._close)

    def _look_for_stop(self) -> None:
        if self._stop.is_set():
            self._close()
        else:
            self._connection.ioloop.call_later(LOOK_FOR_STOP_S, self._look_for_stop)

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
        # The broker has no room left: it reads nothing until it has.
        self.blocked = blocked

    def _declare(self, channel: Any) -> None:
        self._channel = channel
        channel.add_on_close_callback(lambda _channel, problem: self._refused(problem))
        channel.add_on_return_callback(lambda _channel, _method, props, _body: self._returned.add(props.message_id))
        channel.exchange_declare(letters.EXCHANGE, ExchangeType.topic, durable=True, callback=self._ask_for_confirms)

    def _ask_for_confirms(self, _frame: Any) -> None:
        self._channel.confirm_delivery(self._confirmed, callback=lambda _frame: self._opened())

    def _refused(self, problem: BaseException) -> None:
        if not self._connection.is_closing and not self._connection.is_closed:
            self.problem = self.problem or str(problem)
            self._connection.close()

    def _broken(self, problem: BaseException) -> None:
        self.problem = self.problem or type(problem).__name__
        self._connection.ioloop.stop()

    def _end(self) -> None:
        with self._turn:
            self._over = True
        self._connection.ioloop.close()
        for batch in self._batches:
            batch.break_off()

    def _enqueue(self, batch: Batch) -> None:
        self._waiting.extend((batch, message) for message in batch.messages)
        self._pump()

    def _pump(self) -> None:
        while self._waiting and len(self._under_way) < WINDOW and self._channel.is_open:
            batch, message = self._waiting.popleft()
            self._tag += 1
            self._under_way[self._tag] = batch, message
            self._channel.basic_publish(
                letters.EXCHANGE,
                letters.key(message),
                letters.envelope(message),
                pika.BasicProperties(**letters.properties(message)),
                mandatory=True,
            )

    def _confirmed(self, frame: Any) -> None:
        tag, many = frame.method.delivery_tag, frame.method.multiple
        refused = isinstance(frame.method, pika.spec.Basic.Nack)
        for known in list(takewhile(tag.__ge__, self._under_way)) if many else [tag]:
            batch, message = self._under_way.pop(known)
            self._settle(batch, message, refused=refused)
        self._pump()

    def _settle(self, batch: Batch, message: Message, *, refused: bool) -> None:
        returned = message.message_id in self._returned
        self._returned.discard(message.message_id)
        if refused:
            batch.settle(lambda outcome: outcome.failed.update({message.order: "The broker refused it."}))
        elif returned:
            batch.settle(lambda outcome: outcome.unrouted.append(message.order))
        else:
            batch.settle(lambda outcome: outcome.delivered.append(message.order))
        if batch.done.is_set():
            self._batches.discard(batch)
