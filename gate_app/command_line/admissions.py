"""Lists the latest admissions at a gate for the command line, also while the gate is running."""

from __future__ import annotations

from gate_app.installation.home import Home
from gate_app.reading_home import journal, open_snapshots
from gate_app.supervision.admitted import Line
from gate_app.supervision.admitted import latest as latest_in


def latest(home: Home, limit: int) -> list[Line]:
    """The latest admissions and exits that were not taken back yet, newest first."""
    with journal(home) as connection:
        snapshots, _ = open_snapshots(connection, home)
        try:
            return latest_in(connection, snapshots, limit)
        finally:
            for snapshot in snapshots.values():
                snapshot.close()


def text(line: Line) -> str:
    """One admission as a line for people."""
    seat = " ".join(
        part for part in (line["row"] and f"Row {line['row']}", line["seat"] and f"Seat {line['seat']}") if part
    )
    who = f"{line['ticket']:<18}  {seat or line['zone'] or '':<20}"
    return f"{line['seq']:>7}  {line['local']:<15}  {line['direction']:<5}  {who}  {line['reader']}"
