"""Registering webhooks: what is refused, who may, and that nothing crosses organisations."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from sync_server.plumbing.requests.addresses import leads_inside
from sync_server.webhooks.rules import MAX_WEBHOOKS
from tests.app_server import ApiClient, AppServer, a_concert
from tests.contracts.webhooks.conftest import Hook, MakeServer, a_webhook, change, run
from tests.services.webhook_receiver import Receiver

UNFIT = (
    "http://example.org/hook",
    "ftp://example.org/hook",
    "https:///hook",
    "https://user:word@example.org/hook",
    "https://example.org/hook#part",
    "https://example.org:99999/hook",
    "https://example.org/ü",
    "https://example.org/a b",
    "javascript:alert(1)",
)


def test_addresses_that_nothing_should_be_posted_to_are_refused(make_server: MakeServer) -> None:
    app_server = make_server(webhook_http=False)
    api = app_server.api(app_server.organisation("marquee"))
    for url in UNFIT:
        assert api.refused("POST", "/api/webhooks", {"url": url, "facts": ["*"]}) == (400, "invalid_request"), url
    assert api.get("/api/webhooks") == {"items": [], "next": None}


def test_names_in_other_scripts_are_kept_as_they_are_asked_for(app_server: AppServer, api: ApiClient) -> None:
    made = api.post("/api/webhooks", {"url": "https://bücher.example:8443/hook?a=1", "facts": ["event.*"]})
    assert made["url"] == "https://xn--bcher-kva.example:8443/hook?a=1"


def test_facts_that_do_not_exist_are_refused_by_name(api: ApiClient) -> None:
    for facts in (["event_exploded"], ["events.*"], ["event.*", "event_*"], []):
        refused = api.post("/api/webhooks", {"url": "https://example.org/", "facts": facts}, 400)
        assert not facts or facts[-1] in refused["error"]["message"]


def test_there_is_a_limit_of_webhooks(api: ApiClient, receiver: Receiver) -> None:
    for _ in range(MAX_WEBHOOKS):
        a_webhook(api, receiver)
    again = {"url": receiver.url, "facts": ["*"]}
    assert api.refused("POST", "/api/webhooks", again) == (409, "too_many_webhooks")
    first = api.get("/api/webhooks")["items"][0]
    assert api.ask("DELETE", f"/api/webhooks/{first['id']}").status_code == 204
    a_webhook(api, receiver)


def test_an_edit_may_insist_on_what_was_seen(api: ApiClient, receiver: Receiver) -> None:
    hook = Hook(api, a_webhook(api, receiver))
    seen = hook.now()["etag"]
    api.patch(hook.path, {"description": "for the bar"})
    late = api.ask("PATCH", hook.path, {"description": "for the door"}, **{"If-Match": f'"{seen}"'})
    assert late.status_code == 412 and hook.now()["description"] == "for the bar"


def test_what_waits_for_a_deleted_webhook_is_not_sent(
    app_server: AppServer, api: ApiClient, receiver: Receiver
) -> None:
    concert = a_concert(api)
    hook = Hook(api, a_webhook(api, receiver))
    change(concert, "one")
    run(app_server)
    arrived = len(receiver.arrived)
    change(concert, "two")
    assert api.ask("DELETE", hook.path).status_code == 204
    run(app_server)
    assert len(receiver.arrived) == arrived and api.refused("GET", hook.path) == (404, "webhook_not_found")


def test_nothing_crosses_organisations(app_server: AppServer, api: ApiClient, receiver: Receiver) -> None:
    rivals = app_server.api(app_server.organisation("rivals"))
    run(app_server)
    theirs = Hook(rivals, a_webhook(rivals, receiver, "*"))
    concert = a_concert(api)
    change(concert, "ours")
    run(app_server)
    assert receiver.arrived == []
    a_concert(rivals)
    run(app_server)
    (organisation,) = {each.json["organisation_id"] for each in receiver.arrived}
    assert organisation == rivals.get("/api/session")["organisation"]["id"]
    message = theirs.messages()[0]["message_id"]
    for method, path, body in (
        ("GET", theirs.path, None),
        ("PATCH", theirs.path, {"active": False}),
        ("DELETE", theirs.path, None),
        ("POST", f"{theirs.path}/secret", {}),
        ("POST", f"{theirs.path}/test", {}),
        ("GET", f"{theirs.path}/messages", None),
        ("GET", f"{theirs.path}/messages/{message}", None),
        ("POST", f"{theirs.path}/messages/{message}/replay", {}),
        ("POST", f"{theirs.path}/replay", {"since": 0}),
    ):
        assert api.ask(method, path, body).status_code == 404, (method, path)
    assert api.get("/api/webhooks")["items"] == [] and theirs.now()["active"]


INSIDE = """
    127.0.0.1 10.1.2.3 100.64.0.1 169.254.169.254 172.20.0.1 192.168.1.1 0.0.0.0 224.0.0.1 255.255.255.255 192.0.2.1
    :: ::1 fe80::1%eth0 fd00::1 ff02::1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 2002:7f00:1:: 64:ff9b::a00:1
    64:ff9b:1::1 nothing
"""
OUTSIDE = "93.184.215.14 2606:2800:21f:cb07:6820:80da:af6b:8b2c 64:ff9b::5db8:d70e"


def test_which_addresses_lead_inside() -> None:
    assert [address for address in INSIDE.split() if not leads_inside(address)] == []
    assert [address for address in OUTSIDE.split() if leads_inside(address)] == []


SPELLINGS = "127.0.0.1 localhost 0.0.0.0 2130706433 0x7f.1 [::1] 127.1 [::ffff:127.0.0.1]"


def test_nothing_is_posted_inside_however_the_address_is_written(make_server: MakeServer, receiver: Receiver) -> None:
    app_server = make_server(webhook_networks="192.0.2.0/24")
    api = app_server.api(app_server.organisation("marquee"))
    for host in SPELLINGS.split():
        hook = Hook(api, a_webhook(api, receiver, url=f"http://{host}:{receiver.port}/"))
        api.post(f"{hook.path}/test")
        run(app_server)
        (message,) = hook.messages()
        assert (message["state"], message["last_problem"]) == ("waiting", "inside_address"), host
    assert receiver.arrived == []


def test_a_name_that_later_leads_inside_is_refused_then(
    make_server: MakeServer, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the name says is asked at each connection, and the connection goes to the very address that was checked."""
    app_server = make_server(webhook_networks="127.0.0.1")
    api = app_server.api(app_server.organisation("marquee"))
    hook = Hook(api, a_webhook(api, receiver, url=f"http://partner.example:{receiver.port}/"))
    says: list[str] = []

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        assert host == "partner.example"
        if not says:
            raise socket.gaierror
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in says]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    for found, problem in (
        (["127.0.0.1"], ""),
        (["169.254.169.254"], "inside_address"),
        (["127.0.0.1", "10.0.0.7"], "inside_address"),
        ([], "no_such_host"),
    ):
        says[:] = found
        sent = api.post(f"{hook.path}/test")["message_id"]
        run(app_server)
        assert hook.log(sent)["attempts"][0]["problem"] == problem, found
    assert len(receiver.arrived) == 1 and receiver.arrived[0].headers["host"] == f"partner.example:{receiver.port}"
