"""What must hold of a venue's place, and when a venue may go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from shared.days import zone_named
from shared.errors import Conflict, InvalidRequest
from sync_server.venues.countries import COUNTRIES

_OF_THIS_MACHINE: Final = frozenset({"localtime", "posixrules", "Factory"})
_WITH_OTHER_SECONDS: Final = ("right/", "posix/")


def country_of(words: str) -> str:
    """A country by its two letters or by its name; InvalidRequest for two letters that no country has."""
    if len(words) != 2:
        return words
    if words.upper() not in COUNTRIES:
        raise InvalidRequest(
            f"country: no country has the letters {words!r}. Use those of ISO 3166, like DE or GB, or the full name.",
            field="country",
        )
    return words.upper()


def check_timezone(name: str) -> None:
    """InvalidRequest for what is no time zone, or means another one on another machine or with other clocks."""
    zone_named(name)
    if name in _OF_THIS_MACHINE or name.startswith(_WITH_OTHER_SECONDS):
        raise InvalidRequest(
            f"{name!r} is not the time zone of any place. Use a name like Europe/Berlin.", field="timezone"
        )


def check_coordinates(latitude: float | None, longitude: float | None) -> None:
    """InvalidRequest for half a pair: neither number says anything alone."""
    if (latitude is None) != (longitude is None):
        missing = "latitude" if latitude is None else "longitude"
        raise InvalidRequest(f"{missing}: give latitude and longitude together, or neither.", field=missing)


def check_open(archived: bool) -> None:
    """Conflict for a venue at which nothing new is planned."""
    if archived:
        raise Conflict(
            "This venue is in the archive: nothing new takes place there. Restore it first.", code="venue_archived"
        )


def check_holds(max_capacity: int, planned: Mapping[str, int]) -> None:
    """Conflict for a venue that would hold fewer than its own layouts are drawn for."""
    larger = {name: room for name, room in sorted(planned.items()) if room > max_capacity}
    if larger:
        words = ", ".join(f"{name!r} ({room})" for name, room in larger.items())
        raise Conflict(
            f"These layouts of the venue are drawn for more than {max_capacity}: {words}. Put them into the archive or "
            "choose a larger capacity.",
            code="layouts_exceed_capacity",
            layouts=larger,
        )


def check_unused(uses: Mapping[str, int]) -> None:
    """Conflict that says what hangs on a venue which somebody wants to delete."""
    hanging = {what: count for what, count in sorted(uses.items()) if count}
    if hanging:
        words = ", ".join(f"{count} {what}" for what, count in hanging.items())
        raise Conflict(
            f"This venue cannot be deleted, because it still has {words}. Put it into the archive instead: it then "
            "stands in no list, and what belongs to it stays as it is.",
            code="venue_in_use",
            uses=hanging,
        )
