"""/admin: registers the pages of every module in this package."""

from __future__ import annotations

import importlib
import pkgutil

from sync_server import admin
from sync_server.admin.page import bp

for found in pkgutil.iter_modules(admin.__path__):
    importlib.import_module(f"{admin.__name__}.{found.name}")

__all__ = ["bp"]
