"""Signed requests cannot be replayed, forged or reused from a restored card."""

from __future__ import annotations

from shared.wire import protocol
from tests.contracts.sync.world import World


def hello_body() -> bytes:
    """A harmless message."""
    return protocol.encode(protocol.HelloRequest(branch=1, last_seq=0, head=bytes(32)))


def test_a_recorded_request_cannot_be_replayed(world: World) -> None:
    gate = world.a_gate()
    gate.send("POST", protocol.HELLO, "other", body=hello_body(), counter=41)
    refusal = gate.refusal("POST", protocol.HELLO, "other", body=hello_body(), counter=41)
    assert refusal.code == "counter_too_low"
    assert refusal.details == {"last": 41, "channel": "other"}


def test_requests_that_overtake_each_other_are_each_accepted_once(world: World) -> None:
    gate = world.a_gate()
    for counter in (9, 7, 8):
        assert gate.send("POST", protocol.HELLO, "other", body=hello_body(), counter=counter).status_code == 200
    assert gate.refusal("POST", protocol.HELLO, "other", body=hello_body(), counter=7).code == "counter_too_low"


def test_a_restored_card_continues_above_the_counter_it_is_given(world: World) -> None:
    gate = world.a_gate()
    gate.send("POST", protocol.HELLO, "other", body=hello_body(), counter=5_000)
    refusal = gate.refusal("POST", protocol.HELLO, "other", body=hello_body(), counter=3)
    assert refusal.details is not None
    above = refusal.details["last"] + 1
    assert gate.send("POST", protocol.HELLO, "other", body=hello_body(), counter=above).status_code == 200


def test_channels_have_separate_counters(world: World) -> None:
    gate = world.a_gate()
    gate.send("POST", protocol.HELLO, "other", body=hello_body(), counter=100)
    assert gate.frame().event == 7


def test_an_altered_body_is_refused(world: World) -> None:
    gate = world.a_gate()
    altered = protocol.encode(protocol.HelloRequest(branch=2, last_seq=0, head=bytes(32)))
    refusal = gate.refusal("POST", protocol.HELLO, "other", body=hello_body(), alter=altered)
    assert refusal.code == "untrusted"


def test_an_unsigned_request_is_refused(world: World) -> None:
    response = world.client().post(protocol.HELLO, data=hello_body(), content_type=protocol.MEDIA_TYPE)
    assert response.status_code == 401
    assert protocol.decode(protocol.ErrorAnswer, response.data).error.code == "untrusted"


def test_an_unknown_device(world: World) -> None:
    gate = world.a_gate()
    gate.number += 1
    assert gate.refusal("POST", protocol.HELLO, "other", body=hello_body()).code == "unknown_device"


def test_a_channel_is_for_its_own_addresses(world: World) -> None:
    gate = world.a_gate()
    assert gate.refusal("POST", protocol.HELLO, "pull", body=hello_body()).code == "wrong_channel"


def test_an_unknown_profile_may_do_nothing(world: World) -> None:
    gate = world.a_gate()
    with world.parts.database.writing() as session:
        from sync_server.devices import queries

        queries.get(session, world.organisation, gate.device_id).profile = "from-the-future"
    query = "event=7"
    assert gate.refusal("GET", protocol.SNAPSHOT, "pull", query=query).code == "profile_forbids"
    request = protocol.encode(gate.journal_request([]))
    assert gate.refusal("POST", protocol.JOURNAL, "push", body=request).code == "profile_forbids"


def test_a_revoked_device_learns_of_it_and_gets_nothing_new(world: World) -> None:
    gate = world.a_gate()
    world.revoke(gate.device_id)
    answer = gate.hello()
    assert answer.revoked
    assert answer.assignments == []
    assert "revoked this device" in answer.words
    assert gate.refusal("GET", protocol.SNAPSHOT, "pull", query="event=7").code == "device_revoked"


def test_another_organisations_event_does_not_exist_for_a_gate(world: World) -> None:
    rivals = world.an_event(world.an_organisation("rivals"), number=8)
    gate = world.a_gate()
    assert gate.refusal("GET", protocol.SNAPSHOT, "pull", query=f"event={rivals.number}").code == "not_assigned"
    answer = gate.changes(protocol.EventAt(event=rivals.number))
    assert answer.events == []


def test_a_gate_that_speaks_no_version_of_ours_is_told_to_update(world: World) -> None:
    gate = world.a_gate()
    old = protocol.encode(protocol.HelloRequest(branch=1, last_seq=0, head=bytes(32), versions=(0,)))
    assert gate.refusal("POST", protocol.HELLO, "other", body=old).code == "upgrade_needed"
