"""One reader of a stream: what is still to be written to it, and when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from sync_server.waiting.handing_over import Access, StreamText

MAX_UNWRITTEN = 1_000_000
"""Bytes that a reader may leave unread; then it is cut off, and resumes where it was when it reconnects."""


class Reader:
    """Used on the loop only; `task` writes what `send` queues."""

    __slots__ = ("_news", "_texts", "_unwritten", "access", "ended", "repeated", "task")

    def __init__(self, task: asyncio.Task[None], access: Access | None) -> None:
        self.task, self.access, self.ended = task, access, False
        self.repeated: frozenset[str] = frozenset()  # facts that it got when it reconnected
        self._texts: list[bytes] = []
        self._unwritten = 0
        self._news: asyncio.Future[None] | None = None

    @property
    def idle(self) -> bool:
        """Whether everything is written."""
        return not self._texts

    def send(self, text: StreamText) -> None:
        """Queue a text, unless the reader has it already; cut off a reader that does not read."""
        if text.message_id and text.message_id in self.repeated:
            return
        self._texts.append(text.text)
        self._unwritten += len(text.text)
        if self._unwritten > MAX_UNWRITTEN:
            self.task.cancel()
        self._wake()

    def open(self, first: Iterable[StreamText]) -> None:
        """Put the first texts before whatever was announced while they were made."""
        first, later = list(first), self._texts
        self.repeated = frozenset(text.message_id for text in first if text.message_id)
        self._texts = [*(text.text for text in first), *later]
        self._unwritten = sum(map(len, self._texts))
        self._wake()

    def end(self) -> None:
        """End the stream once everything is written."""
        self.ended = True
        self._wake()

    async def next(self) -> bytes:
        """Everything that is to be written now; waits for something, and returns nothing at the end."""
        while not self._texts and not self.ended:
            self._news = asyncio.get_running_loop().create_future()
            await self._news
        text = self._texts[0] if len(self._texts) == 1 else b"".join(self._texts)
        self._texts, self._unwritten = [], 0
        return text

    def _wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)
