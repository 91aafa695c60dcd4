"""Codes of tickets as pages show them: as wide as their place, and never cut off."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from sync_server.ticket_files.schemas import TicketFaceView

_SIZE: Final = re.compile(r'width="(\d+)" height="(\d+)"')


@dataclass(frozen=True, slots=True)
class ShownTicket:
    """What stands on a ticket, and its code drawn."""

    face: TicketFaceView
    code: Markup


def shown_tickets(faces: Sequence[TicketFaceView]) -> list[ShownTicket]:
    """The tickets; a drawing of a fixed size would be cut off where it is shown smaller."""
    return [ShownTicket(face, Markup(_scalable(face.svg))) for face in faces]  # noqa: S704 - paths that segno draws


def _scalable(svg: str) -> str:
    return _SIZE.sub(r'viewBox="0 0 \1 \2" aria-hidden="true"', svg, count=1)
