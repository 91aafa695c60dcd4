"""All tables of the server: the one place that knows every room's models."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from sqlalchemy import MetaData

import sync_server
from sync_server.plumbing.api import idempotency, proxies  # noqa: F401 - their tables belong to the schema
from sync_server.plumbing.sql.tables import Base


def metadata() -> MetaData:
    """The declared schema, with every room's models loaded."""
    for room in pkgutil.iter_modules([str(Path(sync_server.__file__).parent)]):
        path = Path(sync_server.__file__).parent / room.name / "models.py"
        if room.ispkg and path.exists():
            importlib.import_module(f"sync_server.{room.name}.models")
    return Base.metadata
