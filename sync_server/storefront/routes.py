"""/o/{slug}: registers the pages of every module in this package, and of those in its folders."""

from __future__ import annotations

import importlib
import pkgutil

from sync_server import storefront
from sync_server.storefront.page import bp

for found in pkgutil.walk_packages(storefront.__path__, f"{storefront.__name__}."):
    importlib.import_module(found.name)

__all__ = ["bp"]
