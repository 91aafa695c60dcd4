"""What the gate has of the server, and the server of the gate: enrolment, tickets, journal."""

from __future__ import annotations

import sqlite3
from typing import Final

from gate_app.clock.time_keeper import TimeKeeper
from gate_app.display.condition import STALE_AFTER_S
from gate_app.doctor.finding import Code, Examined, Finding, fault, well
from gate_app.gate_context import REVOKED
from gate_app.installation.identity import load
from gate_app.journal.reading import body_at, branches_in, last_seq, read, verify_in
from gate_app.reading_home import ReadOnlyStore, journal, open_snapshots, status
from gate_app.status import journal_status, oldest
from gate_app.storage.database import get_value
from shared.errors import NotFound
from shared.lifecycle import OVER

OLD_UNSENT_MS: Final = 10 * 60_000
_HOUR_MS: Final = 3_600_000


def check_enrolment(examined: Examined) -> Finding:
    """Whether this machine is a device of an organisation, and has not been shut out."""
    identity = load(examined.home.identity)
    if identity is None:
        return fault(
            "enrolment",
            Code.NOT_ENROLLED,
            "Not enrolled. Start it and show it the code of the device's page, or run: gatehouse-gate enrol URL CODE.",
        )
    if words := _revoked(examined):
        advice = "Ask the organiser; enrol again with a new code to use this machine. Its journal is kept."
        return fault("enrolment", Code.REVOKED, f"{words.rstrip('.')}. {advice}")
    return well("enrolment", f"{identity.device_name or 'This gate'} of {identity.organisation_name}.")


def _revoked(examined: Examined) -> str:
    try:
        with journal(examined.home) as connection:
            return str(get_value(connection, REVOKED) or "")
    except NotFound:
        return ""


def check_ready(examined: Examined) -> Finding:
    """Whether somebody could be let in now."""
    try:
        found = status(examined.home, examined.host)
    except NotFound:
        return fault("ready", Code.NOT_USED, "This gate has not been used yet.")
    coming = [event for event in found["events"] if event.get("status") not in OVER]
    missing = [event["no_gate"] for event in coming if event.get("no_gate")]
    if found["ready"] and not missing:
        posts = ", ".join(f"gate {event['gate']} at {event['name']}" for event in found["events"] if event["gate"])
        return well("ready", f"Stands at {posts}." if posts else "Ready.")
    why = ". ".join(dict.fromkeys([found["not_ready"] or "", *missing])).strip(". ") + "."
    return fault("ready", Code.NO_GATE if missing else Code.NOT_READY, why)


def check_tickets(examined: Examined) -> Finding:
    """Whether the list of tickets is whole and recent."""
    try:
        with journal(examined.home) as connection:
            snapshots, problems = open_snapshots(connection, examined.home)
            try:
                as_of, held = oldest(snapshots), sum(snapshot.tickets_held() for snapshot in snapshots.values())
                revision = max((snapshot.position.revision for snapshot in snapshots.values()), default=0)
            finally:
                for snapshot in snapshots.values():
                    snapshot.close()
    except NotFound:
        return fault("tickets", Code.NO_TICKETS, "None yet. Enrol and sync.")
    if problems:
        return fault("tickets", Code.TICKETS_DAMAGED, " ".join(problems))
    if as_of is None:
        return fault(
            "tickets", Code.NO_TICKETS, "None yet. Connect this gate to the server: gatehouse-gate sync --once."
        )
    age = status(examined.home, examined.host)["snapshot_age_s"] * 1000
    message = f"{held} tickets, revision {revision}, confirmed {_words(age)} ago."
    if age > STALE_AFTER_S * 1000:
        advice = "What was sold, returned or revoked since is not known here. Connect this gate to the server."
        return fault("tickets", Code.TICKETS_OLD, f"{message} {advice}")
    return well("tickets", message)


def check_journal(examined: Examined) -> Finding:
    """Whether every entry is there, and nobody else writes under this gate's name."""
    try:
        with journal(examined.home) as connection:
            chain, fork = verify_in(connection), journal_status(connection, 0)["fork_words"]
    except NotFound:
        return well("journal", "No entries yet.")
    if chain.ok and fork:
        return fault("journal", Code.TWO_GATES, fork)
    if chain.ok:
        return well("journal", f"{chain.entries} entries, chain intact.")
    places = ", ".join(chain.lost) or str(chain.broken_at)
    advice = "Everything else is intact. Replace the card after this event."
    return fault("journal", Code.JOURNAL_DAMAGED, f"{chain.entries} entries, damaged at {places}. {advice}")


def check_unsent(examined: Examined) -> Finding:
    """Whether the server gets what is recorded here."""
    try:
        with journal(examined.home) as connection:
            since = _oldest_unsent(connection)
        found = status(examined.home, examined.host)
    except NotFound:
        return well("unsent", "No entries yet.")
    if found["stranded"]:
        message = f"{found['stranded']} entries belong to an earlier enrolment of this machine. Export them: "
        return fault("unsent", Code.STRANDED, f"{message}gatehouse-gate export journal FILE.csv.")
    if since is None or not found["unsent"]:
        return well("unsent", "The server has everything.")
    age = max(0, _now(examined) - since)
    message = f"{found['unsent']} entries wait for the server, the oldest for {_words(age)}."
    if age > OLD_UNSENT_MS:
        advice = "They are safe here, but other gates do not know them. Connect this gate, and keep it switched on."
        return fault("unsent", Code.UNSENT_OLD, f"{message} {advice}")
    return well("unsent", message)


def _oldest_unsent(connection: sqlite3.Connection) -> int | None:
    """When the first entry was recorded that the server has not confirmed."""
    for branch in branches_in(connection):
        if branch.acknowledged < last_seq(connection, branch.local):
            entry = read(body_at(connection, branch.local, branch.acknowledged + 1) or b"")
            if entry is not None:
                return entry.wall + entry.offset
    return None


def _now(examined: Examined) -> int:
    host = examined.host
    with journal(examined.home) as connection:
        return TimeKeeper(ReadOnlyStore(connection), host.wall, host.monotonic, host.boot).now().at


def _words(ms: float) -> str:
    if ms < 2 * 60_000:
        return f"{ms / 1000:.0f} s"
    return f"{ms / 60_000:.0f} min" if ms < 2 * _HOUR_MS else f"{ms / _HOUR_MS:.0f} h"
