"""All tables of the server: the one place that knows every room's models."""

from __future__ import annotations

import importlib
from pathlib import Path

from sqlalchemy import MetaData

import sync_server
from sync_server.plumbing.api import idempotency, proxies  # noqa: F401 - their tables belong to the schema
from sync_server.plumbing.sql.tables import Base


def metadata() -> MetaData:
    """The declared schema, with every room's models loaded."""
    folder = Path(sync_server.__file__).parent
    for path in sorted(folder.rglob("models.py")):
        importlib.import_module(".".join(("sync_server", *path.relative_to(folder).with_suffix("").parts)))
    return Base.metadata
