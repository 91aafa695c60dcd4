"""Ids: one type in every table, and the same answers on both databases, whatever somebody sends as one."""

from __future__ import annotations

import re
from typing import Final

from sqlalchemy import String

from shared.ids import UNKNOWN_ID
from sync_server.migrations.tables import metadata
from sync_server.plumbing.sql.tables import UUID_TYPE
from tests.app_server import ApiClient, AppServer, Concert
from tests.contracts.server.test_every_route import METHODS

NO_UUIDS: Final = {
    "audit_lines.actor_id": "of several kinds, and empty for the system",
    "audit_lines.subject_id": "of several kinds, numbers among them",
    "audit_personal.person_id": "of several kinds, numbers among them",
    "customers.membership_id": "as the organiser names it",
    "holds.membership_id": "as the organiser names it",
    "images.id": "a hash of the picture",
    "image_variants.image_id": "a hash of the picture",
    "layout_seats.companion_seat_id": "as the layout names the seat",
    "layout_seats.seat_id": "as the layout names the seat",
    "order_lines.membership_id": "as the organiser names it",
    "put_away_people.membership_id": "as the organiser names it",
    "processed_messages.message_id": "as another service names it",
    "scan_conflicts.resolved_by": "a name",
    "tickets.membership_id": "as the organiser names it",
    "tickets.seat_id": "as the layout names the seat",
    "tier_memberships.id": "as the organiser names it",
}
MALFORMED: Final = ("nowhere", "1", "{01a1ee93-a800-767b-ae97-80dab5121243}", "ä" * 36, "%27")


def test_every_column_with_a_uuid_has_the_one_type() -> None:
    """Text in one table and a UUID in another could not be joined on PostgreSQL."""
    columns = {f"{table.name}.{column.name}": column for table in metadata().sorted_tables for column in table.c}
    texts = {place: column.type for place, column in columns.items() if isinstance(column.type, String)}
    ids = {place for place in texts if re.search(r"(^id|_id|_by)$", columns[place].name)}
    ids |= {place for place, text in texts.items() if text.length == UUID_TYPE.length}
    assert {place for place in ids if columns[place].type is not UUID_TYPE} == {*NO_UUIDS}
    for place, column in columns.items():
        targets = [key.column.type for key in column.foreign_keys]
        assert all((column.type is UUID_TYPE) == (target is UUID_TYPE) for target in targets), place


def _filled(rule: str, id: str) -> str:
    """The path with this id for every id, and 1 for every other parameter."""
    return re.sub(r"<[^>]+>", "1", re.sub(r"<[a-z_]+_id>", id, rule))


def test_what_is_no_id_is_answered_like_an_id_that_nothing_has(app_server: AppServer, api: ApiClient) -> None:
    """On PostgreSQL a statement with such a text as an id would fail."""
    rules = [rule for rule in app_server.app.url_map.iter_rules() if re.match(r"/api/.*_id>", rule.rule)]
    assert len(rules) > 80
    for rule in rules:
        for method in {*METHODS} & (rule.methods or set()):
            unknown, *answers = (
                api.ask(method, _filled(rule.rule, id), {}).status_code for id in (UNKNOWN_ID, *MALFORMED)
            )
            refused = unknown if rule.endpoint.partition(".")[0] != "holds" else 400  # which say that it is none
            for malformed, status in zip(MALFORMED, answers, strict=True):
                assert status in {unknown, refused} and status < 500, (method, rule.rule, malformed, status, unknown)


def test_ids_in_capital_letters_are_the_same_ids(api: ApiClient, concert: Concert) -> None:
    id = concert.event["id"]
    assert api.get(f"/api/events/{id.upper()}")["id"] == id
    venue = concert.venue["id"]
    assert [one["id"] for one in api.get(f"/api/events?venue_id={venue.upper()}")["items"]] == [id]


def test_a_body_with_no_id_is_refused_by_the_name_of_its_field(api: ApiClient, concert: Concert) -> None:
    for path, field in ((f"{concert.path}/replacement", "event_id"), (f"{concert.path}/layout", "layout_id")):
        answer = api.ask("PUT", path, {field: "nowhere"})
        assert answer.status_code == 400 and answer.json
        assert answer.json["error"]["details"]["fields"][0]["field"] == field
    assert api.refused("GET", "/api/events?venue_id=nowhere")[0] == 400
