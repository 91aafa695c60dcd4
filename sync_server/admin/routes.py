"""/admin: registers the pages of every module in this package, and of those in its folders."""

from __future__ import annotations

import importlib
import pkgutil

from sync_server import admin
from sync_server.admin.page import bp

for found in pkgutil.walk_packages(admin.__path__, f"{admin.__name__}."):
    importlib.import_module(found.name)

__all__ = ["bp"]
