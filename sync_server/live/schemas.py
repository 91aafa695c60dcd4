"""Shapes of answers about an event's numbers."""

from __future__ import annotations

from dataclasses import asdict

from pydantic import BaseModel

from sync_server.live.board import Board
from sync_server.plumbing.shapes import iso_or_none


class GateNumbers(BaseModel):
    """One gate's numbers."""

    number: int
    code: str
    name: str
    open: bool
    entries: int
    exits: int
    refused: int
    inside: int


class BoardOut(BaseModel):
    """The numbers of one event; `silent` devices have not spoken for a minute, so what they know is missing here."""

    version: str
    status: str
    entries: int
    exits: int
    refused: int
    inside: int
    conflicts: int
    devices: int
    silent: int
    silent_since: str | None
    gates: list[GateNumbers]
    refusals: dict[str, int]

    @classmethod
    def of(cls, board: Board) -> BoardOut:
        """As the API tells it."""
        return cls.model_validate(asdict(board) | {"silent_since": iso_or_none(board.silent_since)})
