"""Starts the two programs; an installed wheel carries their packages in here, out of everybody else's way."""

from __future__ import annotations

import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_CARRIED = _HERE / "packages"


def find_packages() -> None:
    """Put the packages of the programs first on the path: another `shared` may be installed beside this one.

    A wheel has them in a folder that only this module knows; in a checkout they stand beside this folder.
    """
    folder = str(_CARRIED if _CARRIED.is_dir() else _HERE.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)


def server() -> None:
    """Run gatehouse-server."""
    find_packages()
    from sync_server.__main__ import main

    main()


def gate() -> None:
    """Run gatehouse-gate."""
    find_packages()
    from gate_app.__main__ import main

    main()
