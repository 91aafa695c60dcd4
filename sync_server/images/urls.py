"""URLs of images."""

from __future__ import annotations


def image_url(image_id: str, variant: str) -> str:
    """The path of an image in one variant, such as 800.webp."""
    return f"/images/{image_id}/{variant}"
