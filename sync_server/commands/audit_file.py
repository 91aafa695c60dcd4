"""Verifies an exported audit log without a database or settings; parses SEQ:SEAL positions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from shared.errors import InvalidRequest, NotFound
from sync_server.audit.chain_check import CHAIN_START, ChainBreak, ChainPosition
from sync_server.audit.exported_file import prove_file
from sync_server.commands.console import echo, print_json

_POSITION = re.compile(r"(\d{1,18}):([0-9a-fA-F]{64})")


def check(file: Path, public_key: str | None, after: str | None, noted: Iterable[str]) -> bool:
    """Verify the file and print the result; whether it is intact to its end."""
    start = CHAIN_START if after is None else parse_place(after)
    with _opened(file) as lines:
        found = prove_file(lines, start=start, public=parse_public_key(public_key), known=map(parse_place, noted))
    position = {"sealed": found.place.seq, "seal": found.place.seal.hex(), "erased": found.erased}
    print_json({"ok": found.broken is None} | position | {"broken_at": break_json(found.broken)})
    if found.broken is not None:
        echo(f"BROKEN at line {found.broken.seq}. {found.broken.problem}")
        return False
    echo(f"ok     {found.place.seq - start.seq} lines are intact.")
    return True


def parse_place(text: str) -> ChainPosition:
    """Parse SEQ:SEAL as printed by `audit verify`; InvalidRequest for anything else."""
    found = _POSITION.fullmatch(text.strip())
    if found is None:
        raise InvalidRequest(f"{text!r} is not a position in a chain. Write SEQ:SEAL, as printed by `audit verify`.")
    return ChainPosition(int(found[1]), bytes.fromhex(found[2]))


def break_json(broken: ChainBreak | None) -> dict[str, Any] | None:
    """Where a chain is broken, as JSON."""
    if broken is None:
        return None
    return {"seq": broken.seq, "line": broken.line_id, "problem": broken.problem}


def _opened(file: Path) -> Any:
    try:
        return file.open(encoding="utf-8", errors="replace")
    except OSError as error:
        raise NotFound(f"{file} cannot be read: {error.strerror}.") from None


def parse_public_key(text: str | None) -> bytes | None:
    """The 32 bytes of a key in hexadecimal; InvalidRequest for anything else."""
    if text is None:
        return None
    if not re.fullmatch("[0-9a-fA-F]{64}", text):
        raise InvalidRequest("A public key has 64 hexadecimal digits. GET /api/audit/seal returns it.")
    return bytes.fromhex(text)
