"""The sync protocol without I/O: which request comes next, and what a response means."""

from __future__ import annotations

import pytest

from gate_app.sync.exchange import Changed, Framed, Greeted, PullExchange, Refused, Said
from shared.errors import Unreadable
from shared.wire import protocol
from shared.wire.protocol import (
    CHANGES,
    HELLO,
    SNAPSHOT,
    Batch,
    ChangesAnswer,
    ChangesRequest,
    EventAt,
    HelloAnswer,
    HelloRequest,
    SnapshotAnswer,
)

AT_7 = EventAt(event=7, lineage=b"lineage1", revision=4, heard=2)


def an_exchange() -> PullExchange:
    return PullExchange(lambda: HelloRequest(branch=1, last_seq=0, head=bytes(32)), wait_s=25, said=lambda: Said(1))


def greeted(held: dict[int, EventAt], missing: list[int]) -> PullExchange:
    exchange = an_exchange()
    exchange.next_request()
    step = exchange.receive(200, protocol.encode(HelloAnswer(server_time=1)))
    assert isinstance(step, Greeted)
    exchange.serve(held, missing)
    return exchange


def a_frame(next_: str | None = None, lineage: bytes = b"lineage1", base: int = 9, event: int = 7) -> bytes:
    return protocol.encode(
        SnapshotAnswer(event=event, lineage=lineage, base_revision=base, frame=b"", as_of=1, next=next_)
    )


def asked(exchange: PullExchange) -> ChangesRequest:
    call = exchange.next_request()
    assert call.path == CHANGES
    return protocol.decode(ChangesRequest, call.body)


def test_it_begins_with_hello() -> None:
    call = an_exchange().next_request()
    assert (call.path, call.channel, call.wait_s) == (HELLO, "other", 0)


def test_with_all_snapshots_it_polls_for_changes_of_all_events() -> None:
    exchange = greeted({7: AT_7}, [])
    assert (asked(exchange).events, asked(exchange).wait) == ([AT_7], 25)
    assert exchange.idle


def test_what_is_missing_is_fetched_frame_by_frame_and_brought_up_to_date() -> None:
    exchange = greeted({}, [7])
    assert exchange.next_request().query == "event=7&after=&limit=5000"
    first = exchange.receive(200, a_frame("5:77", base=9))
    assert isinstance(first, Framed)
    assert (first.first, first.last) == (True, False)
    assert exchange.next_request().query == "event=7&after=5:77&limit=5000"
    exchange.receive(200, a_frame(None, base=11))
    request = asked(exchange)
    assert (request.events[0].revision, request.wait) == (9, 0), "the changes since the first frame"
    step = exchange.receive(200, protocol.encode(ChangesAnswer(events=[], server_time=1)))
    assert isinstance(step, Changed)
    assert step.completes == 7
    exchange.holds(AT_7)
    assert exchange.idle


def test_a_frame_that_did_not_arrive_is_asked_for_again() -> None:
    exchange = greeted({}, [7])
    exchange.next_request()
    exchange.receive(200, a_frame("5:77"))
    assert exchange.next_request().query == exchange.next_request().query == "event=7&after=5:77&limit=5000"


def test_a_server_restored_in_the_middle_of_a_snapshot_makes_it_begin_again() -> None:
    exchange = greeted({}, [7])
    exchange.next_request()
    exchange.receive(200, a_frame("5:77"))
    exchange.next_request()
    with pytest.raises(Unreadable, match="restored"):
        exchange.receive(200, a_frame(None, lineage=b"lineage2"))
    assert exchange.next_request().query == "event=7&after=&limit=5000"


def test_another_events_rows_are_not_used() -> None:
    exchange = greeted({}, [7])
    exchange.next_request()
    with pytest.raises(Unreadable, match="another event"):
        exchange.receive(200, a_frame(event=8))


def test_a_position_that_cannot_be_continued_means_a_whole_snapshot() -> None:
    exchange = greeted({7: AT_7}, [])
    exchange.next_request()
    exchange.lost(7)
    assert exchange.next_request().path == SNAPSHOT


def test_changed_assignments_cause_another_hello() -> None:
    exchange = greeted({7: AT_7}, [])
    exchange.next_request()
    exchange.receive(200, protocol.encode(ChangesAnswer(events=[], server_time=1, assignments_changed=True)))
    assert exchange.next_request().path == HELLO


def test_a_hello_requested_while_a_poll_is_open_does_not_mistake_its_answer() -> None:
    exchange = greeted({7: AT_7}, [])
    exchange.next_request()
    exchange.greet_again()
    batch = Batch(event=7, lineage=b"lineage1", from_revision=4, to_revision=5, digest=bytes(16), as_of=1)
    step = exchange.receive(200, protocol.encode(ChangesAnswer(events=[batch], server_time=1)))
    assert isinstance(step, Changed)
    assert exchange.next_request().path == HELLO


def test_a_refused_snapshot_does_not_hold_up_the_other_events() -> None:
    exchange = greeted({8: EventAt(event=8)}, [7])
    assert exchange.next_request().path == SNAPSHOT
    body = protocol.encode(protocol.ErrorAnswer(error=protocol.ErrorBody(code="not_assigned", message="No.")))
    with pytest.raises(Refused) as refused:
        exchange.receive(404, body)
    assert (refused.value.error_code, refused.value.message) == ("not_assigned", "No.")
    exchange.skip()
    assert [at.event for at in asked(exchange).events] == [8]


def test_an_invalid_answer_is_unreadable() -> None:
    exchange = an_exchange()
    exchange.next_request()
    with pytest.raises(Unreadable):
        exchange.receive(200, b"<html>Please log in</html>")
