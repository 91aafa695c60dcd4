"""URLs of images, and of what else never changes at its URL."""

from __future__ import annotations

from typing import Final

IMMUTABLE: Final = "public, max-age=31536000, immutable"
"""How long caches may keep what changes its address with its content."""


def image_url(image_id: str, variant: str) -> str:
    """The path of an image in one variant, such as 800.webp."""
    return f"/images/{image_id}/{variant}"
