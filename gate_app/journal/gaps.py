"""Declares lost entries to the server, so that they do not hold up the ones behind them."""

from __future__ import annotations

from gate_app.clock.time_keeper import TimeKeeper
from gate_app.journal.chain_survey import LostRange
from gate_app.journal.journal import NOWHERE, Journal
from gate_app.journal.reading import SEQ_BITS, Branch, Stored, body_at, last_seq
from shared.journal import scans
from shared.journal.scans import Entry, EntryKind

GAPS_AT_ONCE = 100
LOOKAHEAD = 2
"""The survey needs the next entry to tell which of two contradicting entries was altered."""


def outgoing(journal: Journal, branch: Branch, time_keeper: TimeKeeper, limit: int) -> list[bytes]:
    """The entries of a branch to send next: gaps first, then the readable entries after the server's mark."""
    found = journal.stored(branch, branch.acknowledged, limit + LOOKAHEAD)
    survey = journal.survey(branch, branch.acknowledged)
    for seq, body in found:
        survey.meet(seq, body)
    edge = found[:limit][-1][0] if found else branch.acknowledged
    for stretch in survey.lost:
        if branch.acknowledged < stretch[0] <= edge and not journal.database.cannot_write:
            _declare_undeclared(journal, branch, stretch, time_keeper)
    gaps = _declared(journal, branch)
    # Gaps go first: the mark must not stop at missing entries whose gap entry comes much later.
    return [*gaps, *_not_lost(found, journal.gaps_of(branch))[: limit - len(gaps)]]


def declare(journal: Journal, branch: Branch, lost: LostRange, time_keeper: TimeKeeper) -> None:
    """Appends a gap entry to a branch: these entries are lost, those behind them stay valid."""
    database, (first, last) = journal.database, lost
    moment, boot = time_keeper.now(), time_keeper.boot
    with database.lock:
        if branch.local == journal.branch.local:
            journal.begin_branch(moment, boot, lost_message(branch, lost))
        seq = last_seq(database.connection, branch.local) + 1
        gap = Entry(
            branch.device,
            branch.number,
            seq,
            EntryKind.GAP,
            0,
            0,
            "",
            "",
            0,
            0,
            b"",
            "",
            "",
            False,
            "",
            (),
            0,
            "",
            "",
            moment.wall,
            moment.monotonic,
            boot,
            moment.offset,
            moment.uncertainty,
            NOWHERE.lineage,
            NOWHERE.revision,
            NOWHERE.digest,
            journal.hash_before(branch, first) or scans.GENESIS,
            {"first": first, "last": last},
        )
        with database.writing() as connection:
            place = branch.local << SEQ_BITS | seq
            connection.execute("INSERT INTO journal VALUES (?, ?)", (place, scans.encode(gap)))
            connection.execute("INSERT INTO gaps VALUES (?, ?, ?, ?)", (branch.local, seq, first, last))


def lost_message(branch: Branch, lost: LostRange) -> str:
    """The message for the operator."""
    first, last = lost
    which = f"Entry {first} is" if first == last else f"Entries {first} to {last} are"
    return (
        f"{which} damaged or missing in branch {branch.number} of the journal and had not been sent to the server."
        " The server will be informed; everything else is intact. Replace the card after this event."
    )


def _declare_undeclared(journal: Journal, branch: Branch, lost: LostRange, time_keeper: TimeKeeper) -> None:
    first, last = lost
    for _, gone, until in journal.gaps_of(branch):
        if gone <= first <= until:
            first = until + 1
    if first <= last:
        declare(journal, branch, (first, last), time_keeper)


def _not_lost(found: list[Stored], gaps: list[tuple[int, int, int]]) -> list[bytes]:
    return [body for seq, body in found if not any(first <= seq <= last for _, first, last in gaps)]


def _declared(journal: Journal, branch: Branch) -> list[bytes]:
    """The next gap entries after the server's mark."""
    ahead = [seq for seq, first, _ in journal.gaps_of(branch) if first > branch.acknowledged][:GAPS_AT_ONCE]
    with journal.database.lock:
        bodies = [body_at(journal.database.connection, branch.local, seq) for seq in ahead]
    return [body for body in bodies if body is not None]
