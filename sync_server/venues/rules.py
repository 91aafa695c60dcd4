"""Rules about a venue's location and capacity, and about deleting it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from shared.days import zone_named
from shared.errors import Conflict, InvalidRequest
from sync_server.venues.countries import COUNTRIES

_MACHINE_SPECIFIC: Final = frozenset({"localtime", "posixrules", "Factory"})
_OTHER_CLOCKS: Final = ("right/", "posix/")


def country_of(text: str) -> str:
    """A country code in upper case, or a name as it is; InvalidRequest for an unknown code."""
    if len(text) != 2:
        return text
    if text.upper() not in COUNTRIES:
        raise InvalidRequest(
            f"country: {text!r} is not a country code. Use an ISO 3166 code, like DE or GB, or the full name.",
            field="country",
        )
    return text.upper()


def check_timezone(name: str) -> None:
    """InvalidRequest for an unknown time zone, or one whose meaning depends on the machine or counts leap seconds."""
    zone_named(name)
    if name in _MACHINE_SPECIFIC or name.startswith(_OTHER_CLOCKS):
        raise InvalidRequest(
            f"{name!r} is not the time zone of a place. Use a name like Europe/Berlin.", field="timezone"
        )


def check_coordinates(latitude: float | None, longitude: float | None) -> None:
    """InvalidRequest if only one of the two is given."""
    if (latitude is None) != (longitude is None):
        missing = "latitude" if latitude is None else "longitude"
        raise InvalidRequest(f"{missing}: give both latitude and longitude, or neither.", field=missing)


def check_not_archived(archived: bool) -> None:
    """Conflict for an archived venue."""
    if archived:
        raise Conflict("This venue is archived and takes no new events. Restore it first.", code="venue_archived")


def check_layouts_fit(max_capacity: int, planned: Mapping[str, int]) -> None:
    """Conflict for a capacity below that of the venue's layouts."""
    larger = {name: capacity for name, capacity in sorted(planned.items()) if capacity > max_capacity}
    if larger:
        listed = ", ".join(f"{name!r} ({capacity})" for name, capacity in larger.items())
        raise Conflict(
            f"These layouts of the venue hold more than {max_capacity}: {listed}. Archive them, or choose "
            "a larger capacity.",
            code="layouts_exceed_capacity",
            layouts=larger,
        )


def check_unused(uses: Mapping[str, int]) -> None:
    """Conflict that lists what still belongs to a venue."""
    present = {what: count for what, count in sorted(uses.items()) if count}
    if present:
        listed = ", ".join(f"{count} {what}" for what, count in present.items())
        raise Conflict(
            f"This venue cannot be deleted, because it still has {listed}. Archive it instead: it leaves the lists, "
            "and what belongs to it stays as it is.",
            code="venue_in_use",
            uses=present,
        )
