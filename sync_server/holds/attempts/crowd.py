"""Requests for seats that arrive together share one statement: on PostgreSQL, for a statement alone costs too much.

While a statement is under way, others wait for the next. What could disturb a neighbour goes alone instead: the same
bearer, seats beside each other, the same address or card where that is limited, another event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Final

import psycopg

from shared.errors import GatehouseError
from sync_server.holds.attempts import crowd_statement, statement
from sync_server.holds.attempts.evidence import StatementRow
from sync_server.plumbing.sql.autocommit import AutocommitPool, WriteConflict, chosen
from sync_server.plumbing.sql.failures import Failure, refusal
from sync_server.plumbing.sql.turns import Batch, Queue, Turns

Values = Mapping[str, Any]

MOST: Final = 32
"""Requests in one statement: each waits for all of them."""
GATHER_S: Final = 0.002
"""How long a statement waits for as many requests as the last one had, if those were several."""
_near_of: Final = chosen(("seat", "left_far", "left", "right", "right_far"))
_sale_of: Final = chosen(crowd_statement.SHARED)
_OF_ONE: Final = {refusal(failure).error_code for failure in (Failure.BUSY, Failure.SLOW)}


class Compatible(Queue[Values, StatementRow]):
    """Requests that cannot disturb one another."""

    def __init__(self) -> None:
        super().__init__(MOST)
        self._alone: Values | None = None  # who waits without a neighbour: nothing of it was compared yet
        self._sale: tuple[Any, ...] = ()
        self._bearers, self._seats, self._near = set[str](), set[int](), set[int]()
        self._others = set[tuple[str, str]]()  # addresses and cards

    def admits(self, wanted: Values, /) -> bool:
        """Whether it is of the same sale as all that wait, and shares nothing with them that a hold changes."""
        if not len(self):
            self._alone = wanted
            return True
        if self._alone is not None:
            self._begin(self._alone)
            self._alone = None
        if (
            _sale_of(wanted) != self._sale
            or wanted["bearer"] in self._bearers
            or wanted["seat"] in self._near
            or not self._seats.isdisjoint(_near_of(wanted))
            or not self._others.isdisjoint(_others(wanted))
        ):
            return False
        self._note(wanted)
        return True

    def _begin(self, first: Values) -> None:
        self._sale = _sale_of(first)
        for present in (self._bearers, self._seats, self._near, self._others):
            present.clear()
        self._note(first)

    def _note(self, admitted: Values) -> None:
        self._bearers.add(admitted["bearer"])
        self._seats.add(admitted["seat"])
        self._near.update(_near_of(admitted))
        self._others.update(_others(admitted))


def _others(wanted: Values) -> list[tuple[str, str]]:
    """What holds of others are counted by, where that is limited."""
    counted = (("per_address", "origin"), ("per_card", "card"))
    return [(name, wanted[name]) for limit, name in counted if wanted[limit] >= 0 and wanted[name] is not None]


class Crowd:
    """The requests of this process that wait for their statement."""

    def __init__(self, autocommit: AutocommitPool) -> None:
        self._autocommit = autocommit
        self.turns: Turns[Values, StatementRow] = Turns(Compatible(), self._serve, gather_s=GATHER_S)

    def run(self, values: Values) -> StatementRow:
        """Run the statement for this request, alone or with others."""
        waited = self.turns.run(values)
        if waited is not None and waited.failure is not None:
            raise copy(waited.failure)  # each thread adds its own traceback
        if waited is not None and waited.result is not None:
            return waited.result
        return self._alone(statement.READ_AND_WRITE, values)

    def _alone(self, statements: Mapping[tuple[bool, bool], Any], values: Values) -> StatementRow:
        row: Any = self._autocommit.row(statements[_limited(values)], values)
        return StatementRow(*row)

    def _serve(self, take: Callable[[], Batch[Values, StatementRow]]) -> None:
        """What fails because of one of them is done by nobody: then each goes alone, and only that one fails."""
        batch = take()
        try:
            if len(batch) == 1:
                batch[0].result = self._alone(statement.HURRIED, batch[0].wanted)
            else:
                self._together(batch)
        except (WriteConflict, psycopg.Error):
            return
        except GatehouseError as failure:
            if failure.error_code not in _OF_ONE:
                for waiting in batch:
                    waiting.failure = failure

    def _together(self, batch: Batch[Values, StatementRow]) -> None:
        values = crowd_statement.parameters([waiting.wanted for waiting in batch])
        sql = crowd_statement.READ_AND_WRITE[_limited(values)]
        found = crowd_statement.by_hold(self._autocommit.rows(sql, values, sets=len(batch)))
        for waiting in batch:
            waiting.result = found[waiting.wanted["hold_id"]]


def _limited(values: Values) -> tuple[bool, bool]:
    return values["per_address"] >= 0, values["per_card"] >= 0
