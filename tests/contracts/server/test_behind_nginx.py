"""The shipped nginx file in front of a server: who shares an answer, who never does, and what gets through."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from sqlalchemy import select

from scripts.private_services.nginx import NAME, Behind, NginxServer
from shared.trace import heard
from shared.wire import enrolment, protocol
from sync_server.outbox.models import OutboxRow
from tests.contracts.facts.memory import eventually
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.server.test_shared_answers import crowd_addresses
from tests.contracts.sync.gates import Gate
from tests.contracts.sync.office_gates import AppServerWorld
from tests.services.optional_services import start_or_fail
from tests.services.public_site import PublicSite
from tests.staff import PASSWORD

CACHED = {"MISS", "HIT", "EXPIRED", "STALE", "UPDATING", "REVALIDATED"}


@pytest.fixture
def site(sqlite_url: str, tmp_path: Path) -> Iterator[PublicSite]:
    site = PublicSite(sqlite_url, tmp_path)
    yield site
    site.close()


@pytest.fixture
def sale(site: PublicSite) -> SeatedEvent:
    return a_seated_event(site.app_server)


class Visitor:
    """Somebody with a browser, and the secrets that only they may see."""

    def __init__(self, site: PublicSite) -> None:
        self._site, self._browser, self.secrets = site, site.browser(), set[str]()

    def ask(self, path: str, method: str = "GET", body: object = None, **headers: str) -> requests.Response:
        response = self._browser.request(method, self._site.url(path), json=body, headers=headers, timeout=60)
        self.secrets |= {cookie.value for cookie in self._browser.cookies if cookie.value}
        return response

    def sign_in(self, path: str, body: object = None) -> None:
        """Get a session, and remember its CSRF token."""
        response = self.ask(path, "POST", body)
        assert response.status_code in {200, 201}, response.text
        self._browser.headers["X-CSRF-Token"] = response.json()["csrf_token"]
        self.secrets.add(response.json()["csrf_token"])


def test_the_file_is_valid() -> None:
    nginx = start_or_fail("nginx", lambda: NginxServer(Behind(8000, 8001)))
    said = nginx.check()
    nginx.remove()
    assert said.endswith("test is successful") and "warn" not in said, said


def test_two_visitors_never_get_what_is_the_others(site: PublicSite, sale: SeatedEvent) -> None:
    """One is signed in as organiser, the other is a guest who holds a seat; they ask in turn, also for the same."""
    site.app_server.user("olga@marquee.example", sale.organisation_id, "owner")
    organiser, guest = Visitor(site), Visitor(site)
    organiser.sign_in("/api/session", {"email": "olga@marquee.example", "password": PASSWORD})
    guest.sign_in(f"/api/o/{sale.slug}/session")
    held = guest.ask(sale.reserve_path("A-1"), "POST", {})
    assert held.status_code == 201, held.text
    guest.secrets.add(held.json()["data"]["hold_id"])
    site.app_server.run_worker()
    personal = ["/api/session", f"/api/o/{sale.slug}/session", "/api/me/holds", sale.path, f"{sale.path}/occupancy"]
    personal += [f"{sale.path}/seatmap/state", "/admin/"]
    bodies: dict[tuple[str, str], set[bytes]] = {}
    for turn in range(4):
        pairs = [("organiser", organiser, guest), ("guest", guest, organiser)]
        for path in [*crowd_addresses(sale), *personal]:
            for who, asking, other in pairs if turn % 2 else reversed(pairs):
                response = asking.ask(path)
                shared = path not in personal
                assert (response.headers.get("X-Cache") in CACHED) == shared, (path, response.headers)
                assert not (shared and "Set-Cookie" in response.headers), path
                received = f"{response.headers} {response.text}"
                assert not [secret for secret in other.secrets if secret in received], (who, path)
                bodies.setdefault((who, path), set()).add(response.content if response.status_code == 200 else b"")
    for path in crowd_addresses(sale):
        assert bodies["organiser", path] == bodies["guest", path] != {b""}, path
        assert len(bodies["guest", path]) == 1, path
    for path in personal:
        assert not bodies["organiser", path] & bodies["guest", path], path
    assert all(b'"held"' in body for body in bodies["organiser", f"{sale.path}/seatmap/state"])
    assert all(b'"held"' not in body for body in bodies["guest", f"{sale.path}/seatmap/state"])
    assert len(organiser.secrets) >= 2 and len(guest.secrets) >= 3


def test_a_crowd_that_looks_at_one_map_hardly_reaches_the_server(site: PublicSite, sale: SeatedEvent) -> None:
    path, visitor = f"/api/public/events/{sale.id}/seatmap/state", Visitor(site)
    first = visitor.ask(path)
    tag = first.headers["ETag"]
    for number in range(200):  # whatever they append, and whatever they are, it is one address
        again = visitor.ask(f"{path}?no-cache={number}", **{"If-None-Match": tag, "Authorization": f"Bearer {number}"})
        assert (again.status_code, again.content) == (304, b"")
    assert site.asked[path] < 100
    encodings = {
        visitor.ask(path, **{"Accept-Encoding": each}).headers.get("Content-Encoding")
        for each in ("gzip", "zstd;q=1", "br")
    }
    assert encodings == {"gzip", "zstd", None}


def test_a_crowd_shares_pages_of_the_shop_in_its_language_and_nobody_shares_their_own(
    site: PublicSite, sale: SeatedEvent
) -> None:
    feed, guest, other = f"/o/{sale.slug}", Visitor(site), Visitor(site)
    event = f"{feed}/events/{sale.event['slug']}"
    guest.sign_in(f"/api{feed}/session")
    held = guest.ask(sale.reserve_path("A-1"), "POST", {})
    assert held.status_code == 201, held.text
    for path in (feed, event, f"{event}/seats"):
        for visitor, wanted, language in ((guest, "de-DE,de;q=0.9", "de"), (other, "en", "en")) * 50:
            shared = visitor.ask(path, **{"Accept-Language": wanted})
            assert shared.headers["X-Cache"] in CACHED and "Set-Cookie" not in shared.headers
            assert f'<html lang="{language}">' in shared.text, path
        assert site.asked[path] < 50, path
    for path in (f"{feed}/account", f"{event}/tickets", f"{event}/checkout", f"{feed}/sign-in"):
        for visitor, stranger in ((guest, other), (other, guest)):
            own = visitor.ask(path)
            assert "X-Cache" not in own.headers and own.headers["Cache-Control"] == "no-store", path
            assert not [secret for secret in stranger.secrets if secret in f"{own.headers} {own.text}"], path
        assert site.asked[path] == 2, path


def test_a_change_is_seen_although_answers_are_shared(site: PublicSite, sale: SeatedEvent) -> None:
    path, visitor = f"/api/public/events/{sale.id}/occupancy", Visitor(site)
    before = visitor.ask(path).json()["available"]
    sale.reserve(sale.guest(), "A-1")
    site.app_server.run_worker()
    eventually(lambda: visitor.ask(path).json()["available"] == before - 1, "the shared answer is renewed")


def test_streams_go_through_and_free_their_place(site: PublicSite, sale: SeatedEvent) -> None:
    app_server = site.app_server
    connection = site.connect()
    connection.request("GET", f"/api/public/events/{sale.id}/live", headers={"Host": NAME})
    stream = connection.getresponse()
    assert (stream.status, stream.headers["Content-Type"]) == (200, "text/event-stream; charset=utf-8")
    eventually(lambda: stream.readline().startswith(b"event: occupancy"), "what it begins with arrives at once")
    sale.reserve(sale.guest(), "A-1")
    app_server.run_worker()
    eventually(lambda: stream.readline().startswith(b"event: occupancy"), "and what happens meanwhile")
    eventually(lambda: app_server.listener.app.places.taken == 1, "it has a place")
    stream.close()
    connection.close()
    eventually(lambda: app_server.listener.app.places.taken == 0, "nginx closes what its client has closed")


def test_changes_of_a_map_are_waited_for_at_the_listener_only(site: PublicSite, sale: SeatedEvent) -> None:
    visitor, path = Visitor(site), f"{sale.path}/seatmap/changes"
    since = visitor.ask(f"/api/public/events/{sale.id}/seatmap/state").json()["version"]
    assert visitor.ask(f"{path}?since={since}").json()["seats"] == []
    assert site.asked[path] == 1
    sale.reserve(sale.guest(), "A-1")
    site.app_server.run_worker()
    assert visitor.ask(f"{path}?since={since}&wait=25").json()["seats"] == [[sale.number("A-1"), 2]]
    assert site.asked[path] == 1


def test_gates_sign_for_the_public_name_and_wait_behind_it(site: PublicSite, sale: SeatedEvent) -> None:
    gate = Gate(AppServerWorld(site.app_server), "West", host=NAME, connect=site.connect)
    sale.api.post(f"/api/venues/{sale.event['venue_id']}/gates", {"code": "W", "name": "West"})
    device = sale.api.post("/api/devices", {"name": "West"})
    work = {"assignments": [{"event_id": sale.id, "gate": None}]}
    sale.api.put(f"/api/devices/{device['id']}/assignments", work)
    gate.enrol(enrolment.parse(sale.api.post(f"/api/devices/{device['id']}/code")["code"]))
    assert gate.hello().waits_at == "", "the same address: nginx tells by the path who is asked"
    frame = gate.frame(event=sale.event["number"])
    at = protocol.EventAt(event=sale.event["number"], lineage=frame.lineage, revision=frame.base_revision)
    sale.api.patch(sale.path, {"name": "Another night"})
    assert gate.changes(at, wait=30).events[0].to_revision > at.revision
    assert gate.changes(at).events, "those that do not wait go the same way"
    assert not site.asked[protocol.CHANGES]


def test_nothing_that_a_client_says_about_itself_is_believed(site: PublicSite, sale: SeatedEvent) -> None:
    forged = {"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "http"}
    Visitor(site).ask(sale.path, **forged, Forwarded="for=192.0.2.1")
    seen = {name.removeprefix("HTTP_X_FORWARDED_"): value for name, value in site.headers.items()}
    assert (seen["FOR"], seen["HOST"], seen["PROTO"]) == ("127.0.0.1", NAME, "https")
    assert "HTTP_FORWARDED" not in site.headers


def test_every_request_has_an_id_from_the_proxy_on(site: PublicSite, sale: SeatedEvent) -> None:
    guest = Visitor(site)
    guest.sign_in(f"/api/o/{sale.slug}/session")
    own = "4bf92f3577b34da6a3ce929d0e0e4736"
    named = guest.ask(sale.reserve_path("A-1"), "POST", {}, traceparent=f"00-{own}-00f067aa0ba902b7-01")
    unnamed = guest.ask(sale.reserve_path("A-2"), "POST", {}, traceparent="nonsense")
    assert (named.status_code, unnamed.status_code) == (201, 201)
    with site.app_server.database.reading() as session:
        held = select(OutboxRow.trace).where(OutboxRow.name == "seat_held").order_by(OutboxRow.message_id)
        first, second = [heard(trace or "") for trace in session.scalars(held)]
    assert first is not None and first.trace_id == own
    assert second is not None and second.trace_id != unnamed.headers["X-Request-Id"].replace("-", ""), "the proxy's"


def test_what_is_for_the_machines_inside_stays_inside(site: PublicSite) -> None:
    visitor = Visitor(site)
    assert [visitor.ask(path).status_code for path in ("/readyz", "/healthz")] == [404, 200]
    assert visitor.ask("/healthz", Host="made-up.example").status_code == 421
