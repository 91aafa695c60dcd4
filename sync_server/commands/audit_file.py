"""An exported audit log, followed without database and settings; and places of a chain, as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from shared.errors import InvalidRequest, NotFound
from sync_server.audit.carried import prove_file
from sync_server.audit.following import BEGINNING, Break, Place
from sync_server.commands.ground import say, tell

_PLACE = re.compile(r"(\d{1,18}):([0-9a-fA-F]{64})")


def check(file: Path, public_key: str | None, after: str | None, noted: Iterable[str]) -> bool:
    """Follow the file and tell how far it holds together; whether it does to its end."""
    start = BEGINNING if after is None else place(after)
    with _opened(file) as lines:
        found = prove_file(lines, start=start, public=_key(public_key), known=map(place, noted))
    reached = {"sealed": found.place.seq, "seal": found.place.seal.hex(), "erased": found.erased}
    tell({"ok": found.broken is None} | reached | {"broken_at": break_as_told(found.broken)})
    if found.broken is not None:
        say(f"BROKEN at line {found.broken.seq}. {found.broken.problem}")
        return False
    say(f"fine   {found.place.seq - start.seq} lines hold together.")
    return True


def place(text: str) -> Place:
    """SEQ:SEAL as `verify` prints them; InvalidRequest for anything else."""
    found = _PLACE.fullmatch(text.strip())
    if found is None:
        raise InvalidRequest(f"{text!r} is no place in a chain. Write SEQ:SEAL, as `audit verify` prints them.")
    return Place(int(found[1]), bytes.fromhex(found[2]))


def break_as_told(broken: Break | None) -> dict[str, Any] | None:
    """Where a chain breaks, for machines."""
    if broken is None:
        return None
    return {"seq": broken.seq, "line": broken.line_id, "problem": broken.problem}


def _opened(file: Path) -> Any:
    try:
        return file.open(encoding="utf-8", errors="replace")
    except OSError as problem:
        raise NotFound(f"{file} cannot be read: {problem.strerror}.") from None


def _key(text: str | None) -> bytes | None:
    if text is None:
        return None
    if not re.fullmatch("[0-9a-fA-F]{64}", text):
        raise InvalidRequest("A public key has 64 hexadecimal digits; GET /api/audit/seal shows it.")
    return bytes.fromhex(text)
