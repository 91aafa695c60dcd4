"""Entries that are lost for good: found before they would be sent, declared to the server, never a stop for others."""

from __future__ import annotations

from gate_app.chain_survey import Stretch
from gate_app.journal import NOWHERE, Journal
from gate_app.journal_reading import SEQ_BITS, Branch, Stored, body_at, last_seq
from gate_app.time_keeper import TimeKeeper
from shared import scans
from shared.scans import Entry, EntryKind

GAPS_AT_ONCE = 100
LOOKAHEAD = 2
"""Which of two neighbours was altered is known from the one behind them."""


def outgoing(journal: Journal, branch: Branch, time_keeper: TimeKeeper, limit: int) -> list[bytes]:
    """What of a branch is sent next: what can be read behind the mark, then the gaps of what cannot."""
    found = journal.stored(branch, branch.acknowledged, limit + LOOKAHEAD)
    survey = journal.survey(branch, branch.acknowledged)
    for seq, body in found:
        survey.meet(seq, body)
    edge = found[:limit][-1][0] if found else branch.acknowledged
    for stretch in survey.lost:
        if branch.acknowledged < stretch[0] <= edge:
            _declare_what_is_new(journal, branch, stretch, time_keeper)
    gaps = _declared(journal, branch)
    # Gaps go first: the mark must not wait at a hole for a word that stands far behind it.
    return [*gaps, *_not_lost(found, journal.gaps_of(branch))[: limit - len(gaps)]]


def declare(journal: Journal, branch: Branch, lost: Stretch, time_keeper: TimeKeeper) -> None:
    """Says at the end of a branch which of its entries are lost; what stands behind the hole stays, and counts."""
    database, (first, last) = journal.database, lost
    moment, boot = time_keeper.now(), time_keeper.boot
    with database.lock:
        if branch.local == journal.branch.local:
            journal.begin_branch(moment, boot, lost_words(branch, lost))
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


def lost_words(branch: Branch, lost: Stretch) -> str:
    """For the operator."""
    first, last = lost
    which = f"Entry {first} is" if first == last else f"Entries {first} to {last} are"
    return (
        f"{which} damaged or missing in branch {branch.number} of the journal before the server had got them."
        " The server is told; everything else was kept. Change the card after this event."
    )


def _declare_what_is_new(journal: Journal, branch: Branch, lost: Stretch, time_keeper: TimeKeeper) -> None:
    first, last = lost
    for _, gone, until in journal.gaps_of(branch):
        if gone <= first <= until:
            first = until + 1
    if first <= last:
        declare(journal, branch, (first, last), time_keeper)


def _not_lost(found: list[Stored], gaps: list[tuple[int, int, int]]) -> list[bytes]:
    return [body for seq, body in found if not any(first <= seq <= last for _, first, last in gaps)]


def _declared(journal: Journal, branch: Branch) -> list[bytes]:
    """The next gaps behind the mark."""
    ahead = [seq for seq, first, _ in journal.gaps_of(branch) if first > branch.acknowledged][:GAPS_AT_ONCE]
    with journal.database.lock:
        bodies = [body_at(journal.database.connection, branch.local, seq) for seq in ahead]
    return [body for body in bodies if body is not None]
