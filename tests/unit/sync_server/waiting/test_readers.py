"""What one reader gets: its opening first, nothing twice, and no more than it reads."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from sync_server.waiting.handing_over import StreamText
from sync_server.waiting.readers import MAX_UNWRITTEN, Reader


def with_reader(story: Callable[[Reader], Awaitable[None]]) -> None:
    async def run() -> None:
        task = asyncio.create_task(asyncio.sleep(30))
        try:
            await story(Reader(task, None))
        finally:
            task.cancel()

    with ThreadPoolExecutor(1) as thread:  # the browser tests of this process keep a loop running on the main one
        thread.submit(asyncio.run, run()).result()


def test_what_happened_while_the_opening_was_made_comes_after_it() -> None:
    async def story(reader: Reader) -> None:
        reader.send(StreamText(b"later."))
        reader.open([StreamText(b"first.")])
        assert await reader.next() == b"first.later."

    with_reader(story)


def test_a_fact_that_was_missed_is_not_sent_twice() -> None:
    async def story(reader: Reader) -> None:
        reader.open([StreamText(b"missed.", "fact-1")])
        reader.send(StreamText(b"missed.", "fact-1"))
        reader.send(StreamText(b"new.", "fact-2"))
        assert await reader.next() == b"missed.new."

    with_reader(story)


def test_a_reader_that_does_not_read_is_cut_off() -> None:
    async def story(reader: Reader) -> None:
        for _ in range(2):
            reader.send(StreamText(b"x" * MAX_UNWRITTEN))
        await asyncio.sleep(0)
        assert reader.task.cancelled() or reader.task.cancelling()

    with_reader(story)


def test_an_ended_reader_gets_the_rest_and_then_nothing() -> None:
    async def story(reader: Reader) -> None:
        reader.send(StreamText(b"last."))
        reader.end()
        assert [await reader.next(), await reader.next()] == [b"last.", b""]

    with_reader(story)
