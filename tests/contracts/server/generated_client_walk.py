"""What a partner's program does with the generated client, where that is installed: it knows nothing of the server.

Arguments: the address of the server, e-mail address and password. Prints what it found.
"""

# The client exists only while the test runs.
# mypy: ignore-errors

from __future__ import annotations

import datetime
import json
import sys

from gatehouse_client import AuthenticatedClient, Client
from gatehouse_client.api.accounts import accounts_make_token, accounts_sign_in
from gatehouse_client.api.events import events_create, events_listing, events_publish, events_show
from gatehouse_client.api.venues import venues_create
from gatehouse_client.models import (
    Error,
    EventsView,
    EventView,
    NewEvent,
    NewToken,
    NewVenue,
    SignedInView,
    SignInRequest,
    TokenView,
)
from gatehouse_client.models.event_view_status import EventViewStatus

START = datetime.datetime(2027, 7, 4, 18, tzinfo=datetime.UTC)


def main(address: str, email: str, password: str) -> None:
    browser = Client(base_url=address)
    session = accounts_sign_in.sync(client=browser, body=SignInRequest(email=email, password=password))
    assert isinstance(session, SignedInView), session
    cookies = dict(browser.get_httpx_client().cookies)
    browser = Client(base_url=address, cookies=cookies, headers={"X-CSRF-Token": session.csrf_token})
    wanted = NewToken(name="partner", scopes=["read", "edit_venues", "edit_events", "change_status"])
    token = accounts_make_token.sync(client=browser, body=wanted)
    assert isinstance(token, TokenView), token

    api = AuthenticatedClient(base_url=address, token=token.token)
    place = {"city": "Hamburg", "country": "DE", "address": "Hafenstraße 1, 20457 Hamburg"}
    venue = venues_create.sync(client=api, body=NewVenue(name="Harbour Hall", timezone="Europe/Berlin", **place))
    ends = START + datetime.timedelta(hours=6)
    concert = NewEvent(
        venue_id=venue.id, name="Night Music", description="Choirs by night.", start_at=START, end_at=ends
    )
    event = events_create.sync(client=api, body=concert)
    assert isinstance(event, EventView) and event.status is EventViewStatus.DRAFT, event
    published = events_publish.sync(event.id, client=api)
    assert isinstance(published, EventView) and published.status is EventViewStatus.PUBLISHED, published
    listed = events_listing.sync(client=api)
    assert isinstance(listed, EventsView), listed
    missing = events_show.sync_detailed("01a1ee93-a800-767b-ae97-80dab5121243", client=api)
    assert isinstance(missing.parsed, Error), missing
    again = events_create.sync_detailed(client=api, body=concert)
    assert isinstance(again.parsed, Error), again
    found = {
        "listed": [each.name for each in listed.items],
        "missing": [missing.status_code, missing.parsed.error.code],
        "again": [again.status_code, again.parsed.error.code],
    }
    print(json.dumps(found))


main(*sys.argv[1:])
