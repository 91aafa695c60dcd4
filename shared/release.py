"""The name of what is installed: both programs find their version by it."""

from __future__ import annotations

from typing import Final

DISTRIBUTION: Final = "gatehouse-programs"
"""As pip knows it. `gatehouse` is another project on the public package index."""
