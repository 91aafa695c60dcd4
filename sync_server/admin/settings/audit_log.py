"""The audit log for reading: who did what, when and why, filtered, and a check that nothing in it was changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from flask import request
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.accounts import queries as accounts
from sync_server.admin.page import bp, current_organisation, home_zone, page
from sync_server.admin.settings.audit_words import THINGS, sentence
from sync_server.admin.settings.frame import render_settings
from sync_server.archives.audit_log import segment_check
from sync_server.audit import queries
from sync_server.audit.proof import prove
from sync_server.audit.queries import AuditFilter
from sync_server.audit.schemas import AuditLineView, line_view
from sync_server.devices import identity
from sync_server.events import queries as events
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action

SHOWN: Final = 50
_ACTORS: Final = ("token", "device", "customer", "guest", "operator", "system", "platform")


@bp.get("/settings/audit")
@page(Action.READ_AUDIT)
def audit_log() -> str:
    """The lines of the log, newest first."""
    here, zone = current_organisation(), home_zone()
    with parts().database.reading() as session:
        found = queries.lines(session, here, _chosen(zone), limit=SHOWN, after=request.args.get("after"))
        lines = [line_view(line) for line in found.items]
        people = {one.user_id: one.name or one.email for one in accounts.members(session, here)}
        names = _names(session, lines) | people
    shown = {"zone": zone, "lines": lines, "next": found.next, "names": names, "people": people}
    others = {"actors": _ACTORS, "things": THINGS, "sentence": sentence, "changes": changes}
    return render_settings("audit.html", "audit", asked=request.args, **shown, **others)


def _names(session: Session, lines: list[AuditLineView]) -> dict[str, str]:
    """The names of what these lines are about, as far as it has one."""
    mentioned = {line.subject_id for line in lines if line.subject_kind == "event"}
    return events.names_by_id(session, current_organisation(), mentioned) if mentioned else {}


def _chosen(zone: str) -> AuditFilter:
    kind, _, id = request.args.get("who", "")[:80].partition(":")
    return AuditFilter(
        actor_kind=kind or None,
        actor_id=id or None,
        subject_kind=request.args.get("thing", "")[:80] or None,
        subject_id=request.args.get("id", "")[:80] or None,
        since=_day(request.args.get("since", ""), zone),
        until=_day(request.args.get("until", ""), zone, days=1),
    )


def _day(text: str, zone: str, days: int = 0) -> Millis | None:
    """When a day begins there."""
    try:
        day = date.fromisoformat(text) + timedelta(days=days)
        return max(0, int(datetime.combine(day, time(), ZoneInfo(zone)).timestamp() * 1000))
    except (ValueError, OverflowError):
        return None


def changes(line: AuditLineView) -> list[tuple[str, Any, Any]]:
    """What was different before and after, by field."""
    before, after = line.before or {}, line.after or {}
    names = [*before, *(name for name in after if name not in before)]
    return [(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)]


@bp.post("/settings/audit/check")
@page(Action.READ_AUDIT)
def check_audit_log() -> str:
    """Compute every seal again, of the lines in the database and of those in sealed files."""
    here, database = current_organisation(), parts().database
    with database.reading() as session:
        public = identity.public_key(session, parts().sealer)
        proof = prove(session, here, public=public)
    broken = segment_check.check(database, parts().config, here, public)
    return render_settings(
        "audit_check.html", "audit", proof=proof if broken is None else replace(proof, broken=broken)
    )
