"""Verifies a sealed file without a database or settings."""

from __future__ import annotations

from pathlib import Path

from shared.errors import Unreadable, Untrusted
from sync_server.archives import sealed_files
from sync_server.commands.audit_file import parse_public_key
from sync_server.commands.console import echo, print_json
from sync_server.plumbing.api.schemas import iso


def verify(file: Path, public_key: str | None) -> bool:
    """Read the whole file and print what it is; whether it is exactly what was sealed."""
    try:
        found = sealed_files.verify(file, parse_public_key(public_key))
    except (Unreadable, Untrusted) as problem:
        print_json({"ok": False, "problem": problem.message})
        echo(f"BROKEN {problem.message}")
        return False
    manifest = found.manifest
    print_json(
        {
            "ok": True,
            "kind": manifest.kind,
            "organisation": manifest.organisation,
            "made_at": iso(manifest.made_at),
            "about": manifest.about,
            "parts": {part.name: part.rows for part in manifest.parts},
            "public_key": found.public_key.hex(),
        }
    )
    echo(f"ok     {sum(part.rows for part in manifest.parts)} rows in {len(manifest.parts)} parts are as sealed.")
    if public_key is None:
        echo(f"       Signed with {found.public_key.hex()}: compare it with the public key of your server.")
    return True
