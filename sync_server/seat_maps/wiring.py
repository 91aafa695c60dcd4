"""Connects seat maps to the relay, the worker's jobs and the background loops."""

from __future__ import annotations

from typing import Final, cast

from sync_server.plumbing.jobs import Job
from sync_server.plumbing.parts import Parts, parts
from sync_server.seat_maps import service
from sync_server.seat_maps.event_handlers import recorder
from sync_server.seat_maps.map_responses import MapResponses
from sync_server.seat_maps.occupancy_notifier import PUBLISH, OccupancyNotifier
from sync_server.seat_maps.warming import MapWarmer

RESPONSES: Final = "seat_maps.responses"


def wire(parts: Parts) -> None:
    """Give an event's map a new version with every fact about its seats."""
    parts.local_state[RESPONSES] = responses = MapResponses(parts)
    parts.loops.append(MapWarmer(parts, responses).run)
    notifier = OccupancyNotifier(parts, responses.maps)
    parts.subscribers.extend([recorder(parts.cache), notifier.subscriber()])
    parts.jobs.extend(
        [
            Job(PUBLISH, 1_000, notifier.publish_rest, notifier.anything_left),
            Job("seat_maps.delete_old_changes", 600_000, service.delete_old_changes),
        ]
    )


def map_responses() -> MapResponses:
    """The responses of the server that handles this request."""
    return map_responses_of(parts())


def map_responses_of(parts: Parts) -> MapResponses:
    """The responses of a server with these parts."""
    return cast(MapResponses, parts.local_state[RESPONSES])
