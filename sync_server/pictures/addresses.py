"""Where pictures are found."""

from __future__ import annotations


def address(picture_id: str, variant: str) -> str:
    """The path of a picture in one size and form: 800.webp."""
    return f"/images/{picture_id}/{variant}"
