"""Exports the sealed log of one chain as JSON lines, with everything needed to check its seals elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sync_server.audit import queries, rules, segments
from sync_server.audit.models import ChainRow, PersonalRow
from sync_server.plumbing.database import Database

PAGE = 500


def export_lines(database: Database, chain: str, *, after_seq: int = 0) -> Iterator[str]:
    """Yield every line that is sealed now, in order, then the head.

    Each page has a transaction of its own, so that a slow reader holds none open: sealed lines do not change.
    """
    with database.reading() as session:
        head = queries.head(session, chain)
        waiting, _ = queries.unsealed(session, chain)
        cut = segments.cut(session, chain)
    end, position = (0 if head is None else head.seq), max(after_seq, cut.seq)
    if after_seq < cut.seq:
        yield rules.canonical({"kind": "put_away", "chain": chain, "seq": cut.seq, "seal": cut.seal.hex()})
    while position < end:
        page = _page(database, chain, position, end)
        if not page:
            break  # lines are missing; checking the seals will show it
        yield from (line for _, line in page)
        position = page[-1][0]
    yield rules.canonical({"kind": "head", "chain": chain, "waiting": waiting} | _head(head))


def _page(database: Database, chain: str, after_seq: int, end: int) -> list[tuple[int, str]]:
    with database.reading() as session:
        rows = queries.in_order(session, chain, after_seq=after_seq, limit=PAGE)
        return [
            (stored.row.seq, rules.canonical(_line(stored)))
            for stored in queries.with_personal_values(session, chain, rows)
            if stored.row.seq is not None and stored.row.seq <= end
        ]


def _line(stored: queries.StoredLine) -> dict[str, Any]:
    row = stored.row
    return {
        "kind": "line",
        "seq": row.seq,
        "seal": _hex(row.seal),
        "line": queries.sealed_content(row),
        "personal": {part: _personal(values) for part, values in stored.personal.items()},
    }


def _personal(values: PersonalRow) -> dict[str, Any]:
    return {"salt": _hex(values.salt), "content": values.content, "erased_at": values.erased_at}


def _head(head: ChainRow | None) -> dict[str, Any]:
    if head is None:
        return {"seq": 0, "seal": None, "at": None, "signature": None, "public_key": None}
    signed = {"signature": _hex(head.signature), "public_key": _hex(head.public_key)}
    return {"seq": head.seq, "seal": _hex(head.seal), "at": head.at, **signed}


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()
