"""/o/{slug}: registers the pages of every module in this package."""

from __future__ import annotations

import importlib
import pkgutil

from sync_server import storefront
from sync_server.storefront.page import bp

for found in pkgutil.iter_modules(storefront.__path__):
    importlib.import_module(f"{storefront.__name__}.{found.name}")

__all__ = ["bp"]
