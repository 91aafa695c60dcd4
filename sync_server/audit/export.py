"""The sealed log of one chain as JSON lines, with all that somebody else needs to follow its seals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sync_server.audit import queries, rules
from sync_server.audit.models import ChainRow, PersonalRow
from sync_server.plumbing.database import Database

PAGE = 500


def written(database: Database, chain: str, *, after_seq: int = 0) -> Iterator[str]:
    """Every line that is sealed now, in the order of the seals, then the head.

    Each page is a reading of its own, so that a slow reader holds no transaction open: sealed lines stand still.
    """
    with database.reading() as session:
        head = queries.head(session, chain)
        waiting, _ = queries.waiting(session, chain)
    end, place = (0 if head is None else head.seq), after_seq
    while place < end:
        page = _page(database, chain, place, end)
        if not page:
            break  # lines are missing; whoever follows the seals will see it
        yield from (told for _, told in page)
        place = page[-1][0]
    yield rules.canonical({"kind": "head", "chain": chain, "waiting": waiting} | _head(head))


def _page(database: Database, chain: str, after_seq: int, end: int) -> list[tuple[int, str]]:
    with database.reading() as session:
        rows = queries.in_order(session, chain, after_seq=after_seq, limit=PAGE)
        return [
            (told.row.seq, rules.canonical(_line(told)))
            for told in queries.told(session, rows)
            if told.row.seq is not None and told.row.seq <= end
        ]


def _line(told: queries.Told) -> dict[str, Any]:
    row = told.row
    return {
        "kind": "line",
        "seq": row.seq,
        "seal": _hex(row.seal),
        "line": queries.as_sealed(row),
        "personal": {part: _apart(filed) for part, filed in told.apart.items()},
    }


def _apart(filed: PersonalRow) -> dict[str, Any]:
    return {"salt": _hex(filed.salt), "content": filed.content, "erased_at": filed.erased_at}


def _head(head: ChainRow | None) -> dict[str, Any]:
    if head is None:
        return {"seq": 0, "seal": None, "at": None, "signature": None, "public_key": None}
    signed = {"signature": _hex(head.signature), "public_key": _hex(head.public_key)}
    return {"seq": head.seq, "seal": _hex(head.seal), "at": head.at, **signed}


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()
