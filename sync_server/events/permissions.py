"""Which action a change of an event needs: by what it changes, and whether the event has been published."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from shared.lifecycle import EventStatus
from sync_server.events.models import EventRecord
from sync_server.events.rules import check_changeable
from sync_server.plumbing.requests.principals import Action, ActionContext

_DRAFTED, _DECIDED = Action.EDIT_EVENTS, Action.CHANGE_STATUS


class Part(Enum):
    """A part of an event, with the actions that a change of it needs: in a draft, and from then on."""

    DETAILS = "words and pictures", _DRAFTED, _DRAFTED
    TIMES = "times, planned changes of status among them", _DRAFTED, _DECIDED
    SALE = "what is sold, at which price, and when", _DRAFTED, _DECIDED
    ADMISSION = "where it takes place, and whom gates admit", _DRAFTED, _DECIDED
    OWNER = "to whom it belongs", _DECIDED, _DECIDED

    def action(self, status: EventStatus) -> Action:
        """The action that a change of this part needs in this status."""
        return self.value[1] if status is EventStatus.DRAFT else self.value[2]


FIELDS: Final[Mapping[str, Part]] = {
    "name": Part.DETAILS,
    "slug": Part.DETAILS,
    "code": Part.DETAILS,
    "description": Part.DETAILS,
    "category": Part.DETAILS,
    "settings": Part.DETAILS,
    "recurrence_group_id": Part.DETAILS,
    "start_at": Part.TIMES,
    "end_at": Part.TIMES,
    "doors_at": Part.TIMES,
    "go_live_at": Part.TIMES,
    "end_at_auto": Part.TIMES,
    "cutover_hour": Part.TIMES,
    "sale_start_at": Part.SALE,
    "sale_end_at": Part.SALE,
    "capacity": Part.SALE,
    "participants_elsewhere": Part.DETAILS,
    "cutover_empties": Part.ADMISSION,
    "anti_passback": Part.ADMISSION,
    "name_checks": Part.ADMISSION,
    "known_tickets_only": Part.ADMISSION,
    "max_snapshot_age_hours": Part.ADMISSION,
    "clock_uncertain": Part.ADMISSION,
    "repeat_ms": Part.ADMISSION,
    "owner_id": Part.OWNER,
}
"""The part to which each field belongs that a request may change."""


def check_part(row: EventRecord, part: Part, context: ActionContext, change: str = "changed") -> None:
    """Conflict for an event that is over or called off, Forbidden for whoever may not change this part of it."""
    status = EventStatus(row.status)
    check_changeable(status, change)
    context.require(part.action(status))


def check_fields(row: EventRecord, values: Mapping[str, Any], context: ActionContext) -> None:
    """Like `check_part`, for the fields whose values differ; everybody may take an event over."""
    taken_over = {"owner_id"} if values.get("owner_id") == context.actor.id else set()
    changed = [name for name, value in values.items() if name not in taken_over and getattr(row, name) != value]
    for part in {FIELDS[name] for name in changed} | {Part.DETAILS}:
        check_part(row, part, context)
