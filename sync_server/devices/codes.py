"""Enrolment codes as QR images, and the state of a code."""

from __future__ import annotations

from io import BytesIO

import segno

from shared.clock import Millis
from sync_server.devices.models import EnrolmentCode
from sync_server.devices.rules import CodeState


def qr_svg(text: str, mode: str | None = "alphanumeric") -> str:
    """An SVG QR code; in alphanumeric mode, which every scanner types correctly, unless cameras alone read it."""
    image = BytesIO()
    segno.make_qr(text, error="m", mode=mode).save(
        image, kind="svg", xmldecl=False, svgns=True, scale=6, border=4, dark="#000", light="#fff", omitsize=True
    )
    return image.getvalue().decode()


def state_of(code: EnrolmentCode | None, now: Millis) -> CodeState:
    """Whether a code can still be used."""
    if code is None:
        return "none"
    if code.used_at is not None:
        return "used"
    if code.tries_left <= 0:
        return "dead"
    return "expired" if code.withdrawn_at is not None or now >= code.expires_at else "open"
