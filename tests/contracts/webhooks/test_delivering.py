"""Facts arrive: signed, once, in order, and as outsiders may see them."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from sqlalchemy import text

from sync_server.outbox.catalogue import FACTS
from sync_server.outbox.fact_schemas import INSIDE, outside_schema
from sync_server.webhooks import signing
from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import DAY, HOUR, MINUTE
from tests.contracts.facts.test_catalogue import whole_life
from tests.contracts.holds.seated_event import a_seated_event
from tests.contracts.webhooks.conftest import Hook, MakeServer, a_webhook, run
from tests.services.certificates import own_certificate
from tests.services.webhook_receiver import Arrived, Receiver

PUBLISHED = ("event_published", "event_went_live")


def live(concert: Concert) -> None:
    concert.api.post(f"{concert.path}/publish", {}, 200)
    concert.api.post(f"{concert.path}/go-live", {}, 200)


def signed_with(arrived: Arrived, secret: str) -> bool:
    made = signing.signatures([secret], arrived.id, int(arrived.headers["webhook-timestamp"]), arrived.body)
    return made in arrived.headers["webhook-signature"].split()


def test_signatures_are_those_of_the_specification() -> None:
    """The example that implementations of Standard Webhooks share."""
    secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    made = signing.signatures([secret], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_what_was_asked_for_arrives_in_order_and_signed(
    app_server: AppServer, api: ApiClient, concert: Concert, receiver: Receiver
) -> None:
    run(app_server)
    hook = a_webhook(api, receiver, *PUBLISHED, "venue.*")
    live(concert)
    api.patch(f"/api/venues/{concert.venue['id']}", {"city": "Bremen"})
    run(app_server)
    assert receiver.facts == [*PUBLISHED, "venue_changed"]
    for arrived in receiver.arrived:
        assert signed_with(arrived, hook["secret"]) and arrived.path == "/hook"
        assert arrived.headers["content-type"] == "application/json"
        assert (arrived.json["message_id"], int(arrived.headers["webhook-timestamp"])) == (
            arrived.id,
            app_server.now // 1000,
        )
    log = Hook(api, hook).messages()
    assert sorted((each["fact"], each["state"], each["attempts"], each["last_status"]) for each in log) == [
        (fact, "delivered", 1, 204) for fact in sorted(receiver.facts)
    ]


def test_bodies_are_as_the_catalogue_describes_them_for_outsiders(app_server: AppServer, receiver: Receiver) -> None:
    seated = a_seated_event(app_server)
    api = seated.api
    run(app_server)
    hook = a_webhook(api, receiver, "*")
    seated.reserve(seated.guest(), "A-1")
    concert = Concert(api, {"id": seated.event["venue_id"]}, seated.event)
    api.patch(concert.path, {"settings": {"partner": "their own key"}, "description": "with strings"})
    api.post(f"{concert.path}/postpone", {"reason": "the singer is ill"}, 200)
    run(app_server)
    assert {"seat_held", "event_updated", "event_postponed"} <= set(receiver.facts)
    for arrived in receiver.arrived:
        Draft202012Validator(outside_schema(arrived.json["fact"])).validate(arrived.json)
        assert not any(f'"{name}"'.encode() in arrived.body for name in INSIDE)
    everything = b"".join(arrived.body for arrived in receiver.arrived)
    assert b"their own key" not in everything and b"singer" not in everything and b"with strings" in everything
    assert len({arrived.id for arrived in receiver.arrived}) == len(Hook(api, hook).messages("?limit=500"))


def test_every_fact_of_a_concert_may_be_asked_for_by_its_group(
    app_server: AppServer, api: ApiClient, concert: Concert, receiver: Receiver
) -> None:
    a_webhook(api, receiver, *sorted({f"{kind.group}.*" for kind in FACTS.values()}))
    whole_life(app_server, api, concert)
    run(app_server)
    assert len(set(receiver.facts)) > 15 and set(receiver.facts) <= set(FACTS)


def test_only_what_happens_after_the_registration_and_only_what_was_asked_for(
    app_server: AppServer, api: ApiClient, concert: Concert, receiver: Receiver
) -> None:
    run(app_server)
    hook = a_webhook(api, receiver, "event_went_live")
    live(concert)
    run(app_server)
    assert receiver.facts == ["event_went_live"]
    api.patch(f"/api/webhooks/{hook['id']}", {"facts": ["event_ended"]})
    api.post(f"{concert.path}/end", {}, 200)
    run(app_server)
    assert receiver.facts == ["event_went_live", "event_ended"]


def test_after_a_renewal_both_secrets_sign_until_the_overlap_is_over(
    app_server: AppServer, api: ApiClient, receiver: Receiver
) -> None:
    hook = a_webhook(api, receiver)
    path = f"/api/webhooks/{hook['id']}"
    renewed = api.post(f"{path}/secret", {"overlap_hours": 2})
    assert renewed["secret"] != hook["secret"] and "secret" not in api.get(path)

    def tested() -> Arrived:
        api.post(f"{path}/test")
        run(app_server)
        return receiver.arrived[-1]

    both = tested()
    assert signed_with(both, hook["secret"]) and signed_with(both, renewed["secret"])
    app_server.advance(2 * HOUR)
    assert not signed_with(tested(), hook["secret"]) and signed_with(tested(), renewed["secret"])
    at_once = api.post(f"{path}/secret", {"overlap_hours": 0})
    assert not signed_with(tested(), renewed["secret"]) and signed_with(tested(), at_once["secret"])


def test_a_secret_is_shown_once_and_stored_sealed(app_server: AppServer, api: ApiClient, receiver: Receiver) -> None:
    hook = a_webhook(api, receiver)
    kept = "".join(repr(api.get(path)) for path in ("/api/webhooks", f"/api/webhooks/{hook['id']}", "/api/audit"))
    with app_server.database.reading() as session:
        rows = repr(session.execute(text("SELECT * FROM webhooks")).all())
        rows += repr(session.execute(text("SELECT * FROM idempotency_keys")).all())
    assert hook["secret"].startswith("whsec_") and hook["secret"] not in kept + rows


def test_receivers_with_encryption_are_trusted_by_their_certificate(
    make_server: MakeServer, tmp_path: Path, receiver: Receiver
) -> None:
    receiver.stop()
    certificate, context = own_certificate(tmp_path, "receiver")
    receiver.start(context)
    app_server = make_server(webhook_ca_file=certificate, webhook_http=False, webhook_networks="127.0.0.1, ::1")
    api = app_server.api(app_server.organisation("marquee"))
    hook = a_webhook(api, receiver, url=f"https://localhost:{receiver.port}/hook?key=1")
    sent = api.post(f"/api/webhooks/{hook['id']}/test")
    run(app_server)
    assert [each.path for each in receiver.arrived] == ["/hook?key=1"] and signed_with(
        receiver.arrived[0], hook["secret"]
    )
    distrusting = make_server()
    api.post(f"/api/webhooks/{hook['id']}/messages/{sent['message_id']}/replay", {}, 200)
    run(distrusting)
    assert Hook(api, hook).log(sent["message_id"])["attempts"][-1]["problem"] == "certificate_not_trusted"


@pytest.mark.parametrize("fact", ["event_went_live", "event_published"])
def test_a_message_that_fails_holds_up_its_event_for_minutes_and_others_not_at_all(
    app_server: AppServer, api: ApiClient, concert: Concert, receiver: Receiver, fact: str
) -> None:
    hook = a_webhook(api, receiver, *PUBLISHED, "venue.*")
    receiver.refused_facts[fact] = 500
    live(concert)
    api.patch(f"/api/venues/{concert.venue['id']}", {"city": "Bremen"})
    run(app_server)
    later = ["event_went_live"] if fact == "event_published" else []
    assert "venue_changed" in receiver.facts and not set(later) & set(receiver.facts)
    app_server.advance(6_000)
    run(app_server)
    app_server.advance(6 * MINUTE)
    run(app_server)
    assert set(later) <= set(receiver.facts)
    receiver.refused_facts.clear()
    app_server.advance(3 * HOUR)
    run(app_server)
    assert {each["state"] for each in Hook(api, hook).messages()} == {"delivered"}


def test_messages_and_attempts_are_deleted_after_two_weeks(
    app_server: AppServer, api: ApiClient, receiver: Receiver
) -> None:
    hook = a_webhook(api, receiver)
    api.post(f"/api/webhooks/{hook['id']}/test")
    run(app_server)
    app_server.advance(14 * DAY - HOUR)
    app_server.run_worker()
    assert len(Hook(api, hook).messages()) == 1
    app_server.advance(2 * HOUR)
    app_server.run_worker()
    assert Hook(api, hook).messages() == []
    with app_server.database.reading() as session:
        assert session.execute(text("SELECT count(*) FROM webhook_attempts")).scalar_one() == 0
