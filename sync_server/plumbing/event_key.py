"""Names the rows of one event in every table: by its organisation, then by its id."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_


class EventKey(NamedTuple):
    """An event's organisation and id; its number stands only in `events`, on tickets and on the wire."""

    organisation_id: str
    event_id: str

    def of(self, table: Any) -> ColumnElement[bool]:
        """The condition for this event's rows of a table with both columns."""
        return and_(table.organisation_id == self.organisation_id, table.event_id == self.event_id)
