"""What goes into journal entries and comes out of them: texts fit for one, and entries as JSON objects."""

from __future__ import annotations

from typing import Any

from gate_app.clock.time_format import iso
from shared.journal.scans import Entry


def entry_line(entry: Entry) -> dict[str, Any]:
    """A journal entry as `journal --json` prints it."""
    return {
        "device": entry.device,
        "branch": entry.branch,
        "seq": entry.seq,
        "kind": entry.kind,
        "at": iso(entry.wall + entry.offset),
        "uncertainty_ms": entry.uncertainty,
        "event": entry.event or None,
        "gate": entry.gate or None,
        "reader": entry.reader,
        "ticket": f"{entry.ticket_id:016x}" if entry.ticket_id else None,
        "issue": entry.issue or None,
        "direction": entry.direction or None,
        "mode": entry.mode or None,
        "admitted": entry.admitted,
        "reason": entry.reason or None,
        "notices": list(entry.notices),
        "override": _override_line(entry),
        "revision": entry.revision,
        "details": _plain(entry.details),
    }


def _override_line(entry: Entry) -> dict[str, Any] | None:
    if not entry.override_by:
        return None
    return {"by": entry.override_by, "reason": entry.override_reason, "denial": entry.override_denial}


def _plain(value: Any) -> Any:
    """Bytes as hexadecimal, everything else unchanged."""
    match value:
        case bytes():
            return value.hex()
        case dict():
            return {str(key): _plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_plain(inner) for inner in value]
    return value


def clean(text: str, max_length: int = 200) -> str:
    """A text fit for the journal: no control characters, no lone surrogates, at most `max_length` characters."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(character for character in whole if character.isprintable())[:max_length]
