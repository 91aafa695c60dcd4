"""An event that is still being written, as the shop will show it: beside the forms that create and change one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import available_timezones

from shared.clock import Millis
from sync_server.admin import forms
from sync_server.events.queries import Event
from sync_server.venues.queries import Venue


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of it so far; an empty text where nothing was typed."""

    name: str
    description: str
    place: str
    timezone: str
    starts_at: Millis | None
    doors_at: Millis | None
    covers: Sequence[str] = ()


def of_new(venues: Sequence[Venue]) -> Seen:
    """What is typed into the form of a new event, at one of these venues or at one that is typed, too."""
    asked = forms.text("venue_id", 40) or (venues[0].id if venues else "")
    chosen = next((venue for venue in venues if venue.id == asked), None)
    if chosen is not None:
        place, timezone = _place(chosen.name, chosen.city), chosen.timezone
    else:
        place, timezone = _place(forms.text("venue_name", 100), forms.text("city", 50)), forms.text("timezone", 64)
    return _typed(place, timezone if timezone in available_timezones() else "UTC")


def of_event(event: Event, *, typed: bool) -> Seen:
    """An event as it is, or as the form that changes it would make it."""
    place = _place(event.venue_name, event.city)
    if typed:
        return _typed(place, event.timezone, event.cover_images)
    starts_at, doors_at = event.rescheduled_at or event.start_at, event.doors_at
    return Seen(event.name, event.description or "", place, event.timezone, starts_at, doors_at, event.cover_images)


def _typed(place: str, timezone: str, covers: Sequence[str] = ()) -> Seen:
    starts_at, doors_at = forms.moment("start_at", timezone), forms.moment("doors_at", timezone)
    return Seen(forms.text("name", 200), forms.lines("description"), place, timezone, starts_at, doors_at, covers)


def _place(name: str, city: str | None) -> str:
    return ", ".join(part for part in (name, city or "") if part)
