"""The pages of a venue's seat maps: which there are, the editor, and who made which version."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import orjson
from flask import current_app
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.accounts import queries as accounts
from sync_server.admin.page import bp, current_organisation, page, render_page, words
from sync_server.audit import queries as audit
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.seating import queries as seating
from sync_server.venues import queries as venues

MOST_MAPS = 1_000
SCRIPT_TEXTS = "editor."
"""Texts whose keys begin so are for the scripts of the editor."""
EDITOR: Final = "editor/page.js"
_IMPORTED: Final = re.compile(r"^(?:import|export) .*?from \"(\.[^\"]+)\"", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a seat map as lists show it."""

    id: str
    version: int
    name: str
    status: str
    capacity: int
    edited_at: Millis
    edited_by: str  # "": no member of staff
    events: int


@bp.get("/venues/<venue_id>/seat-maps")
@page()
def seat_maps(venue_id: str) -> str:
    """The newest version of each seat map of a venue."""
    with parts().database.reading() as session:
        venue = venues.venue(session, current_organisation(), venue_id)
        rows = seating.layouts(session, current_organisation(), venue_id, limit=MOST_MAPS, after=None).items
        newest = {row.family_id: row for row in sorted(rows, key=lambda row: row.version)}
        maps = _versions(session, newest.values())
    return render_page("seat_maps.html", venue=venue, maps=maps)


@bp.get("/venues/<venue_id>/seat-maps/new")
@page(Action.EDIT_VENUES)
def new_seat_map(venue_id: str) -> str:
    """The editor with an empty map."""
    with parts().database.reading() as session:
        venue = venues.venue(session, current_organisation(), venue_id)
    return render_page("seat_map.html", venue=venue, layout=None, modules=_modules(_static_folder()), texts=_texts())


@bp.get("/venues/<venue_id>/seat-maps/<layout_id>")
@page()
def seat_map(venue_id: str, layout_id: str) -> str:
    """The editor of one version."""
    return _of_layout("seat_map.html", venue_id, layout_id)


@bp.get("/venues/<venue_id>/seat-maps/<layout_id>/versions")
@page()
def seat_map_versions(venue_id: str, layout_id: str) -> str:
    """The list of versions alone: who edited which, and when."""
    return _of_layout("seat_map_versions.html", venue_id, layout_id)


def _of_layout(template: str, venue_id: str, layout_id: str) -> str:
    with parts().database.reading() as session:
        venue = venues.venue(session, current_organisation(), venue_id)
        row = seating.layout(session, current_organisation(), layout_id, venue_id=venue_id)
        versions = _versions(session, seating.versions(session, current_organisation(), row.family_id))
    modules = _modules(_static_folder())
    return render_page(template, venue=venue, layout=row, versions=versions, modules=modules, texts=_texts())


def _texts() -> str:
    """What the editor's scripts say, and in which language."""
    t = words()
    return orjson.dumps({"language": t.language, "texts": t.for_script(SCRIPT_TEXTS)}).decode()


def _static_folder() -> str:
    return str(current_app.static_folder)


@cache
def _modules(static: str) -> list[str]:
    """All that the editor's script imports, so that a browser fetches it at once instead of one after the other."""
    found, waiting = set[Path](), [Path(static, EDITOR).resolve()]
    while waiting:
        path = waiting.pop()
        found.add(path)
        named = (path.parent / name for name in _IMPORTED.findall(path.read_text("utf-8")))
        waiting += [each.resolve() for each in named if each.resolve() not in found]
    return sorted(path.relative_to(Path(static).resolve()).as_posix() for path in found)


def _versions(session: Session, rows: Iterable[seating.Layout]) -> list[Version]:
    """These versions, the newest first, with who edited them last."""
    listed = sorted(rows, key=lambda row: (row.created_at, row.version), reverse=True)
    ids = [row.id for row in listed]
    edits = audit.last_lines(session, current_organisation(), "layout", ids)
    names = {member.user_id: member.name for member in accounts.members(session, current_organisation())}
    events = seating.uses(session, current_organisation(), ids)
    return [
        Version(
            row.id,
            row.version,
            row.name,
            row.status,
            row.total_capacity,
            row.updated_at,
            names.get(edits[row.id].actor_id, "") if row.id in edits else "",
            events.get(row.id, 0),
        )
        for row in listed
    ]
