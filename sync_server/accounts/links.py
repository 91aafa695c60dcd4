"""The one-time links of staff. The code stands behind #, which browsers send to nobody: no log and no proxy sees it."""

from __future__ import annotations

from sync_server.plumbing.parts import Parts


def invitation(parts: Parts, code: str) -> str:
    """Where an invitation is accepted."""
    return f"{parts.config.base_url.rstrip('/')}/admin/invitation#{code}"


def password(parts: Parts, code: str) -> str:
    """Where a password is chosen."""
    return f"{parts.config.base_url.rstrip('/')}/admin/password#{code}"
