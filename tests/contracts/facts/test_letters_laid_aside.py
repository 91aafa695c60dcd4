"""Facts that fail for good are laid aside, listed and sent again on request; order holds whoever delivers."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from typer.testing import CliRunner, Result

from shared.errors import GatehouseError
from sync_server.commands import outbox as commands
from sync_server.outbox import queries, service
from sync_server.outbox.deliveries import Outcome
from sync_server.outbox.leases import BROKER, LEASE_MS
from sync_server.outbox.relay import BATCH, Relay, broker_relay, house_relay
from sync_server.outbox.rules import DEAD_AFTER, LONGEST_PAUSE_MS, State
from sync_server.outbox.service import Fact, record
from sync_server.plumbing.work import Message
from tests.office import Office


@pytest.fixture
def office(database_url: str, tmp_path: Path) -> Iterator[Office]:
    """A server on each database in turn, whose clock is set by hand."""
    made = Office(database_url, tmp_path)
    yield made
    made.close()


def tell(office: Office, event: int, *numbers: int, org: str = "org") -> None:
    with office.database.writing() as session:
        for n in numbers:
            record(session, Fact("event_updated", org, office.now, {"event_number": event}, {"n": n}))


class House:
    """Hears facts, except those that it cannot stand."""

    def __init__(self, *unbearable: int) -> None:
        self.heard: list[tuple[int, int]] = []
        self.unbearable = set(unbearable)

    def __call__(self, message: Message) -> None:
        if message.payload["n"] in self.unbearable:
            raise ValueError(f"{message.payload['n']} cannot be borne")
        self.heard.append((message.subjects["event_number"], message.payload["n"]))


class Broker:
    """Stands for a broker that can be away or refuse single letters, which a real one can hardly be brought to."""

    def __init__(self) -> None:
        self.heard: list[int] = []
        self.away = self.asleep = False
        self.refuses: set[int] = set()

    def ready(self) -> bool:
        return not self.away

    def begin(self, messages: Sequence[Message]) -> Callable[[], Outcome]:
        return partial(self.deliver, messages)

    def deliver(self, messages: Sequence[Message]) -> Outcome:
        outcome = Outcome(outage=self.asleep)
        for message in () if self.asleep else messages:
            if message.payload["n"] in self.refuses:
                outcome.failed[message.order] = "The broker refused it."
            else:
                self.heard.append(message.payload["n"])
                outcome.delivered.append(message.order)
        return outcome


def until_it_gives_up(office: Office, relay: Relay) -> int:
    tries = 0
    while relay.run_once():
        tries += 1
        office.advance(LONGEST_PAUSE_MS)
    return tries


def listed(office: Office, state: State) -> list[Any]:
    with office.database.reading() as session:
        return list(queries.listed(session, state))


def test_a_fact_that_always_fails_is_laid_aside_and_its_event_goes_on(office: Office) -> None:
    house = House(1)
    tell(office, 7, 0, 1, 2)
    assert until_it_gives_up(office, Relay(office.parts, [house])) == DEAD_AFTER + 1
    assert house.heard == [(7, 0), (7, 2)]
    [dead] = listed(office, State.DEAD)
    assert dead.attempts == DEAD_AFTER and "1 cannot be borne" in dead.last_error


def test_what_was_laid_aside_goes_once_more_when_somebody_asks(office: Office) -> None:
    house = House(1)
    relay = Relay(office.parts, [house])
    tell(office, 7, 1)
    until_it_gives_up(office, relay)
    house.unbearable.clear()
    [dead] = listed(office, State.DEAD)
    with office.database.writing() as session:
        assert service.replay(session, [dead.id], office.deed()) == 1
    until_it_gives_up(office, relay)
    assert house.heard == [(7, 1)] and listed(office, State.DEAD) == []


def test_a_fact_that_is_on_its_way_is_not_sent_twice_at_once(office: Office) -> None:
    tell(office, 7, 1)
    [waiting] = listed(office, State.WAITING)
    with office.database.writing() as session:
        assert service.replay(session, [waiting.id], office.deed()) == 0


def test_an_organisation_sees_and_replays_only_its_own(office: Office) -> None:
    mine, theirs = office.organisation("marquee"), office.organisation("rivals")
    desk, stranger = office.desk(mine), office.desk(theirs)
    until_it_gives_up(office, Relay(office.parts))  # what the founding itself had to tell
    tell(office, 7, 1, org=mine)
    until_it_gives_up(office, Relay(office.parts, [House(1)]))
    [fact] = desk.get("/api/facts")["items"]
    assert (fact["state"], fact["attempts"], fact["routing_key"]) == ("dead", DEAD_AFTER, "event.updated")
    path = f"/api/facts/{fact['message_id']}/replay"
    assert stranger.get("/api/facts")["items"] == [] and stranger.refused("POST", path) == (404, "not_found")
    assert desk.post(path, status=200)["state"] == "waiting"
    assert desk.get("/api/facts")["items"] == [] and len(desk.get("/api/facts?state=waiting")["items"]) == 1


def test_a_long_list_comes_in_pages(office: Office) -> None:
    mine = office.organisation("marquee")
    desk = office.desk(mine)
    until_it_gives_up(office, Relay(office.parts))
    tell(office, 7, *range(5), org=mine)
    first = desk.get("/api/facts?state=waiting&limit=3")
    rest = desk.get(f"/api/facts?state=waiting&limit=3&after={first['next']}")
    assert (len(first["items"]), len(rest["items"]), rest["next"]) == (3, 2, None)


def test_several_relays_never_overtake_each_other_within_an_event(office: Office) -> None:
    """Three workers at once, one subscriber that stumbles now and then: each event's facts stay in their order."""
    chance, turn = random.Random(7), threading.Lock()
    heard: dict[int, list[int]] = {event: [] for event in range(6)}

    def stumble(message: Message) -> None:
        with turn:
            if chance.random() < 0.05:
                raise ConnectionError
            heard[message.subjects["event_number"] - 1].append(message.payload["n"])

    for n in range(0, 60, 2):
        for event in heard:
            tell(office, event + 1, n, n + 1)
    relays = [Relay(office.parts, [stumble]) for _ in range(3)]
    for _ in range(200):
        threads = [threading.Thread(target=relay.run_once) for relay in relays]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        office.advance(LONGEST_PAUSE_MS)
        if not listed(office, State.WAITING):
            break
    assert heard == {event: list(range(60)) for event in heard}


def test_a_stuck_event_with_a_long_queue_keeps_nobody_else_waiting(office: Office) -> None:
    house = House(0)
    tell(office, 1, *range(3 * BATCH))
    tell(office, 2, 999)
    relay = Relay(office.parts, [house])
    while relay.run_once():
        pass
    assert house.heard == [(2, 999)]


def operator(office: Office, monkeypatch: pytest.MonkeyPatch, *words: str) -> Result:
    """What an operator types after `gatehouse-server outbox`."""
    monkeypatch.setenv("GATEHOUSE_DATABASE_URL", office.url)
    monkeypatch.setenv("GATEHOUSE_MASTER_KEY_FILE", str(office.folder / "master.key"))
    monkeypatch.setenv("GATEHOUSE_LOG_LEVEL", "error")
    return CliRunner().invoke(commands.app, list(words))


def test_an_operator_lists_what_was_laid_aside_and_lets_it_go_once_more(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(office, 7, 1)
    tell(office, 8, 1)
    relay = Relay(office.parts, [House(1)])
    until_it_gives_up(office, relay)
    lines = [json.loads(line) for line in operator(office, monkeypatch, "list").stdout.splitlines()]
    assert [line["subjects"]["event_number"] for line in lines] == [7, 8]
    assert "payload" not in lines[0]
    assert "One fact goes" in operator(office, monkeypatch, "replay", lines[0]["message_id"]).stderr
    assert len(listed(office, State.DEAD)) == 1
    assert "One fact goes" in operator(office, monkeypatch, "replay", "--every", "dead").stderr
    assert len(listed(office, State.WAITING)) == 2
    with office.database.reading() as session:
        audited = session.execute(text("SELECT count(*) FROM audit_lines WHERE action = 'fact_replayed'")).scalar_one()
    assert audited == 2


@pytest.mark.parametrize(
    "words", [[], ["--every", "sent"], ["--every", "dead", "an-id"], ["00000000-0000-7000-8000-000000000000"]]
)
def test_an_operator_who_asks_for_too_much_or_nothing_is_told_why(
    office: Office, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    answer = operator(office, monkeypatch, "replay", *words)
    assert isinstance(answer.exception, GatehouseError) and len(answer.exception.message) > 20


def broker_office(office: Office) -> tuple[Relay, Relay, Broker, House]:
    object.__setattr__(office.parts, "config", office.parts.config.model_copy(update={"amqp_url": "amqp://broker"}))
    house, broker = House(), Broker()
    office.parts.subscribers.append(house)
    return house_relay(office.parts, broker), broker_relay(office.parts, broker), broker, house


def test_facts_go_straight_on_while_nobody_waits(office: Office) -> None:
    first, second, broker, house = broker_office(office)
    tell(office, 7, 1, 2)
    assert first.run_once() == 2 and second.run_once() == 0
    assert broker.heard == [1, 2] and house.heard == [(7, 1), (7, 2)]


def test_nothing_overtakes_what_waited_out_an_outage(office: Office) -> None:
    first, second, broker, house = broker_office(office)
    broker.away = True
    tell(office, 7, 1)
    first.run_once()
    broker.away = False
    tell(office, 7, 2)
    first.run_once()
    assert broker.heard == [] and [n for _, n in house.heard] == [1, 2]
    second.run_once()
    assert broker.heard == [1, 2]


def test_an_outage_is_no_facts_fault(office: Office) -> None:
    first, second, broker, _house = broker_office(office)
    broker.asleep = True
    tell(office, 7, 1)
    first.run_once()
    for _ in range(3 * DEAD_AFTER):
        second.run_once()
        office.advance(LONGEST_PAUSE_MS)
    broker.asleep = False
    second.run_once()
    assert broker.heard == [1] and listed(office, State.DEAD) == []


def test_a_letter_that_the_broker_refuses_rests_and_is_laid_aside_in_the_end(office: Office) -> None:
    first, second, broker, house = broker_office(office)
    broker.refuses = {1}
    tell(office, 7, 1)
    tell(office, 8, 5)
    first.run_once()
    tell(office, 7, 2)
    first.run_once()
    assert broker.heard == [5] and second.run_once() == 0  # what comes later of the same event waits
    office.advance(LONGEST_PAUSE_MS)
    until_it_gives_up(office, second)
    [dead] = listed(office, State.DEAD)
    assert dead.payload == {"n": 1} and broker.heard == [5, 2] and len(house.heard) == 3
    broker.refuses.clear()
    with office.database.writing() as session:
        service.replay(session, [dead.id], office.deed())
    assert first.run_once() == 0 and second.run_once() == 1  # it takes up its way where it ended
    assert broker.heard == [5, 2, 1] and len(house.heard) == 3


def test_a_worker_that_dies_between_broker_and_mark_sends_twice_under_one_id(office: Office) -> None:
    first, second, broker, _house = broker_office(office)
    broker.away = True
    tell(office, 7, 1)
    first.run_once()
    broker.away = False
    dead = broker_relay(office.parts, broker)
    broker.deliver(dead._lease().messages)  # it dies here
    assert second.run_once() == 0
    office.advance(LEASE_MS)
    second.run_once()
    assert broker.heard == [1, 1]
    with office.database.reading() as session:
        assert session.execute(text("SELECT count(DISTINCT message_id) FROM outbox")).scalar_one() == 1
        assert not session.execute(text("SELECT 1 FROM outbox WHERE sent_at IS NULL")).first()
    assert dead._stage is BROKER


def test_numbers_are_given_at_the_commit_so_that_order_is_what_others_saw(postgres_url: str, tmp_path: Path) -> None:
    """Two real connections: who recorded first but committed last is told last."""
    office = Office(postgres_url, tmp_path)
    recorded, go_on = threading.Event(), threading.Event()

    def slowly() -> None:
        with office.database.writing() as session:
            record(session, Fact("event_updated", "org", office.now, {"event_number": 7}, {"n": 2}))
            session.flush()
            recorded.set()
            assert go_on.wait(30)

    slow = threading.Thread(target=slowly)
    slow.start()
    assert recorded.wait(30)
    tell(office, 7, 1)
    go_on.set()
    slow.join(30)
    house = House()
    Relay(office.parts, [house]).run_once()
    assert house.heard == [(7, 1), (7, 2)]
    office.close()


def test_who_comes_too_late_with_a_failure_disturbs_nobody(office: Office) -> None:
    tell(office, 7, 1)
    house = House(1)
    slow, other, third = (Relay(office.parts, [house]) for _ in range(3))
    taken = slow._lease()
    office.advance(LEASE_MS)
    assert len(other._lease().messages) == 1
    slow._settle(taken, Outcome(failed={taken.messages[0].order: "too slow"}), Outcome())
    office.advance(LEASE_MS // 2)
    assert third.run_once() == 0  # the other still has it
