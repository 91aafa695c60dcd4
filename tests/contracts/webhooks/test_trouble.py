"""Receivers that are down, slow, gone, redirecting or confused, and workers that die: nothing is lost."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from structlog.testing import capture_logs

from sync_server.plumbing.telemetry import logs
from sync_server.webhooks import rules
from sync_server.webhooks.sender import WebhookSender
from sync_server.webhooks.turns import Turns
from sync_server.workers import Worker
from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import DAY, HOUR, MINUTE
from tests.contracts.webhooks.conftest import Hook, MakeServer, a_webhook, change, run
from tests.services.mail_server import MailBox
from tests.services.webhook_receiver import Receiver

SECOND = 1_000


def texts(receiver: Receiver) -> list[str]:
    """What arrived of `change`."""
    return [each.json["payload"]["after"]["description"] for each in receiver.arrived]


@pytest.fixture
def hook(app_server: AppServer, concert: Concert, receiver: Receiver) -> Hook:
    app_server.run_worker()
    return Hook(concert.api, a_webhook(concert.api, receiver, "event_updated", description="the box office"))


def test_a_receiver_that_is_down_gets_everything_in_order_once_it_is_back(
    app_server: AppServer, concert: Concert, hook: Hook, receiver: Receiver
) -> None:
    receiver.stop()
    change(concert, "one", "two", "three")
    run(app_server)
    assert hook.now()["waiting"] == 3 and hook.now()["failing_since"] == "2026-07-04T16:00:00Z"
    app_server.advance(2 * SECOND)
    run(app_server)
    assert sum(each["attempts"] for each in hook.messages()) == 1, "its oldest message alone is tried"
    receiver.start()
    app_server.advance(4 * SECOND)
    run(app_server)
    assert texts(receiver) == ["one", "two", "three"]
    assert hook.now()["failing_since"] is None and hook.now()["waiting"] == 0


def test_pauses_grow_as_documented_until_a_message_has_failed_and_is_replayed(
    app_server: AppServer, concert: Concert, hook: Hook, receiver: Receiver
) -> None:
    receiver.status, receiver.said = 500, b"<h1>Sorry</h1>" * 200
    began = app_server.now
    change(concert, "one")
    run(app_server)
    for expected in rules.PAUSES:
        (waiting,) = hook.messages()
        assert waiting["state"] == "waiting"
        app_server.advance(expected - 1)
        run(app_server)
        assert len(receiver.arrived) == waiting["attempts"]
        app_server.advance(expected // 10 + 1)
        run(app_server)
    (failed,) = hook.messages("?state=failed")
    assert failed["attempts"] == 10 and failed["last_problem"] == "refused" and failed["due_at"] is None
    log = hook.log(failed["message_id"])
    assert [each["status"] for each in log["attempts"]] == [500] * 10
    assert log["attempts"][0]["answer"].startswith("<h1>Sorry") and len(log["attempts"][0]["answer"]) == 1_000
    assert log["body"] == receiver.arrived[0].json and {each.body for each in receiver.arrived} == {
        receiver.arrived[0].body
    }
    receiver.status = 204
    assert hook.api.post(f"{hook.path}/replay", {"since": app_server.now}, 200) == {"replayed": 0}
    assert hook.api.post(f"{hook.path}/replay", {"since": began}, 200) == {"replayed": 1}
    run(app_server)
    assert hook.messages()[0]["state"] == "delivered" and len({each.id for each in receiver.arrived}) == 1
    hook.api.post(f"{hook.path}/messages/{failed['message_id']}/replay", {}, 200)
    run(app_server)
    assert len(receiver.arrived) == 12, "what was delivered may be sent again too"


def test_a_message_that_the_receiver_refuses_is_overtaken_after_five_minutes(
    app_server: AppServer, concert: Concert, hook: Hook, receiver: Receiver
) -> None:
    receiver.answers = [400, 400, 400]
    change(concert, "refused", "next")
    run(app_server)
    app_server.advance(6 * SECOND)
    run(app_server)
    assert texts(receiver) == ["refused", "refused"]
    app_server.advance(6 * MINUTE)
    run(app_server)
    assert texts(receiver)[3:] == ["next"]
    app_server.advance(34 * MINUTE)
    run(app_server)
    assert texts(receiver)[4:] == ["refused"] and hook.now()["waiting"] == 0


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_failures_and_not_followed(
    app_server: AppServer, concert: Concert, hook: Hook, receiver: Receiver, status: int
) -> None:
    receiver.status, receiver.headers = status, {"Location": f"{receiver.url}/elsewhere"}
    change(concert, "one")
    run(app_server)
    (waiting,) = hook.messages()
    assert (waiting["state"], waiting["last_status"]) == ("waiting", status)
    assert [each.path for each in receiver.arrived] == ["/hook"]


def test_a_receiver_that_is_gone_is_paused_and_its_owner_told(
    make_server: MakeServer, mail_box: MailBox, receiver: Receiver
) -> None:
    app_server = make_server(mail_url=mail_box.url)
    organisation = app_server.organisation("marquee")
    api = app_server.api(organisation)
    app_server.user("olga@marquee.example", organisation, "owner")
    app_server.user("stan@marquee.example", organisation, "staff")
    hook = Hook(
        api,
        a_webhook(api, receiver, "venue.*", url=f"{receiver.url}?key=secret", description="the box office"),
    )
    receiver.status = 410
    hook.api.post(f"{hook.path}/test")
    run(app_server)
    now = hook.now()
    assert (now["active"], now["paused_because"], now["waiting"]) == (False, "gone", 1)
    (alert,) = hook.api.get("/api/alerts")["items"]
    assert (alert["kind"], alert["count"], alert["platform"]) == ("webhook_paused", 1, False)
    app_server.run_worker()
    (mail,) = mail_box.arrived
    assert mail["To"] == "olga@marquee.example" and mail["Subject"] == "A webhook of Marquee is paused"
    told = str(mail)
    assert "the box office" in told and "410" in told and "key=secret" not in told
    assert hook.api.refused("POST", f"{hook.path}/test", {}) == (409, "webhook_paused")
    receiver.status = 204
    app_server.advance(HOUR)
    run(app_server)
    assert len(receiver.arrived) == 1
    hook.api.patch(f"{hook.path}", {"active": True})
    run(app_server)
    assert len(receiver.arrived) == 2 and hook.now()["waiting"] == 0
    assert hook.api.get("/api/alerts")["items"] == []
    actions = [line["action"] for line in hook.api.get("/api/audit")["items"]]
    assert actions.count("webhook.paused") == 1 and "secret" not in repr(hook.api.get("/api/audit"))


def test_after_days_of_failures_a_webhook_is_paused_and_what_happens_waits(
    app_server: AppServer, concert: Concert, hook: Hook, receiver: Receiver
) -> None:
    receiver.status = 503
    for day in range(6):
        change(concert, f"day {day}")
        for _ in range(8):
            run(app_server)
            app_server.advance(3 * HOUR + 10 * MINUTE)
    now = hook.now()
    assert (now["active"], now["paused_because"]) == (False, "failing")
    assert [one["kind"] for one in hook.api.get("/api/alerts")["items"]] == ["webhook_paused"]
    asked = len(receiver.arrived)
    change(concert, "while it is paused")
    app_server.advance(DAY)
    run(app_server)
    assert len(receiver.arrived) == asked
    receiver.status = 204
    hook.api.patch(f"{hook.path}", {"active": True})
    run(app_server)
    arrived = texts(receiver)[asked:]
    assert arrived[-1] == "while it is paused" and arrived == sorted(arrived) and len(arrived) >= 5


def test_what_happens_while_a_webhook_is_paused_is_sent_when_it_is_resumed(
    app_server: AppServer, concert: Concert, hook: Hook, receiver: Receiver
) -> None:
    paused = hook.api.patch(f"{hook.path}", {"active": False})
    assert (paused["active"], paused["paused_because"]) == (False, "asked")
    change(concert, "one", "two")
    run(app_server)
    assert receiver.arrived == [] and hook.now()["waiting"] == 2
    assert hook.api.get("/api/alerts")["items"] == [], "whoever paused it knows"
    hook.api.patch(f"{hook.path}", {"active": True})
    run(app_server)
    assert texts(receiver) == ["one", "two"]


def test_another_address_is_tried_at_once_with_all_that_waits(
    app_server: AppServer, concert: Concert, hook: Hook, receiver: Receiver
) -> None:
    hook.api.patch(hook.path, {"url": "http://127.0.0.1:1/hook"})
    change(concert, "one", "two")
    for _ in range(3):
        run(app_server)
        app_server.advance(6 * MINUTE)
    assert hook.now()["waiting"] == 2 and hook.now()["failing_since"] is not None
    hook.api.patch(hook.path, {"url": receiver.url})
    run(app_server)
    assert texts(receiver) == ["one", "two"] and hook.now()["failing_since"] is None


def test_a_receiver_may_ask_for_patience(
    app_server: AppServer, concert: Concert, hook: Hook, receiver: Receiver
) -> None:
    receiver.answers, receiver.headers = [429], {"Retry-After": "600"}
    change(concert, "one", "two")
    run(app_server)
    app_server.advance(9 * MINUTE)
    run(app_server)
    assert len(receiver.arrived) == 1
    app_server.advance(2 * MINUTE)
    run(app_server)
    assert texts(receiver) == ["one", "one", "two"]


def test_a_silent_receiver_holds_up_nobody_and_counts_as_too_slow(
    app_server: AppServer, concert: Concert, hook: Hook, receiver: Receiver
) -> None:
    """The others have had theirs while it still says nothing."""
    silent = Receiver(silent=True)
    silent.start()
    mute = Hook(hook.api, a_webhook(hook.api, silent, "event_updated"))
    try:
        change(concert, "one", "two", "three")
        app_server.run_worker()  # one second is all that a receiver gets here
        assert texts(receiver) == ["one", "two", "three"] and len(silent.arrived) == 1
        first = next(each for each in mute.messages() if each["attempts"])
        assert mute.log(first["message_id"])["attempts"][0]["problem"] == "too_slow"
    finally:
        silent.stop()


def test_slow_receivers_never_take_the_lanes_of_others(
    app_server: AppServer, api: ApiClient, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sync_server.webhooks.sender.LANES", 1)
    monkeypatch.setattr("sync_server.webhooks.sender.SLOW_LANES", 1)
    silent = Receiver(silent=True)
    silent.start()
    try:
        for _ in range(2):
            mute = a_webhook(api, silent)
            api.post(f"/api/webhooks/{mute['id']}/test")
            run(app_server)
        good = a_webhook(api, receiver)
        app_server.advance(6 * SECOND)
        api.post(f"/api/webhooks/{good['id']}/test")
        run(app_server)
        assert receiver.facts == ["webhook_tested"]
    finally:
        silent.stop()


class Killed(BaseException):
    """As the kernel would do it: nothing of the worker runs any more."""


def test_a_worker_that_dies_loses_nothing_and_repeats_what_was_under_way(
    app_server: AppServer,
    concert: Concert,
    hook: Hook,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    change(concert, "one", "two", "three")
    note, noted = Turns.note, []

    def die_before_the_second(turns: Turns, *arguments: Any) -> None:
        if noted:
            raise Killed
        noted.append(True)
        note(turns, *arguments)

    monkeypatch.setattr(Turns, "note", die_before_the_second)
    monkeypatch.setattr(Turns, "end", lambda *_: False)
    dying = Worker(app_server.parts)
    with pytest.raises(Killed):
        dying.run_once()
    monkeypatch.undo()
    assert texts(receiver) == ["one", "two"]
    run(app_server)
    assert texts(receiver) == ["one", "two"], "it is leased until the worker counts as dead"
    app_server.advance(rules.lease_ms(1))
    run(app_server)
    assert texts(receiver) == ["one", "two", "two", "three"]
    assert {each["state"] for each in hook.messages()} == {"delivered"}


def test_two_workers_do_not_send_the_same_message(
    make_server: MakeServer,
    app_server: AppServer,
    concert: Concert,
    hook: Hook,
    receiver: Receiver,
) -> None:
    other = make_server()
    change(concert, *map(str, range(10)))
    app_server.run_worker()
    receiver.arrived.clear()
    for message in hook.messages():
        hook.api.post(f"{hook.path}/messages/{message['message_id']}/replay", {}, 200)
    senders = [WebhookSender(each.parts) for each in (app_server, other)]
    threads = [threading.Thread(target=sender.run_once) for sender in senders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(texts(receiver)) == sorted(map(str, range(10)))


def test_the_running_sender_is_woken_by_what_happens(
    app_server: AppServer, concert: Concert, hook: Hook, receiver: Receiver
) -> None:
    stop = threading.Event()
    sender = threading.Thread(target=WebhookSender(app_server.parts).run, args=(stop,))
    sender.start()
    try:
        change(concert, "one")
        Worker(app_server.parts)._fact_worker.run_once()
        assert receiver.asked.wait(30)
    finally:
        stop.set()
        sender.join()
    assert texts(receiver) == ["one"]


def test_log_lines_and_measures_tell_of_attempts_without_what_was_sent(
    app_server: AppServer, concert: Concert, hook: Hook, receiver: Receiver
) -> None:
    logs.set_up("info")
    receiver.answers, receiver.said = [500], b"our secret answer"
    change(concert, "with strings")
    with capture_logs() as lines:
        run(app_server)
        app_server.advance(6 * SECOND)
        run(app_server)
    told = [line for line in lines if line["event"] == "webhook_attempt"]
    assert [(line["outcome"], line["status"], line["attempt"]) for line in told] == [
        ("refused", 500, 1),
        ("delivered", 204, 2),
    ]
    assert {line["webhook_id"] for line in told} == {hook.id}
    assert not any(word in repr(told) for word in ("strings", "secret answer", "127.0.0.1", "whsec"))
    metrics = app_server.parts.metrics.text().decode()
    assert 'gatehouse_webhook_attempts_total{outcome="refused"} 1.0' in metrics
    assert "gatehouse_webhook_seconds_count 2.0" in metrics and "gatehouse_webhook_waiting 0.0" in metrics
