"""Schema of the request that changes names on an order."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sync_server.checkout.orders.renaming import Names
from sync_server.checkout.rules import MAX_ADMISSIONS
from sync_server.checkout.schemas import HolderName
from sync_server.plumbing.api.schemas import Reason, RequestBody


class GuestName(RequestBody):
    """Who comes with the line at this position; empty: nobody is named."""

    position: Annotated[int, Field(ge=1, le=MAX_ADMISSIONS)]
    holder_name: HolderName


class ChangeNames(RequestBody):
    """The names on an order; what is left out stays."""

    buyer_name: HolderName | None = None
    guests: Annotated[list[GuestName], Field(max_length=MAX_ADMISSIONS)] = Field(default_factory=list)
    reason: Reason = ""

    def names(self) -> Names:
        """The names that the order shall have."""
        return Names(self.buyer_name, {each.position: each.holder_name for each in self.guests}, self.reason)
