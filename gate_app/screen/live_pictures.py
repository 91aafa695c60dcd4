"""The cameras' live pictures on the gate's screen: asked for one by one, and only by whoever may see guests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from threading import BoundedSemaphore
from typing import Literal

from flask import Flask, Response, request

from hardware.ports import LivePicture

Viewers = Literal["here", "network", "never"]
WAIT_S = 1.0
"""How long a screen waits for the next picture; a silent camera must not hold its thread."""
MOST_AT_ONCE = 3
NONE_NEWER = 204


@dataclass(frozen=True, slots=True)
class LivePictures:
    """The cameras by the names of their readers. People in front of them are seen by `viewers` alone."""

    cameras: Mapping[str, LivePicture] = field(default_factory=dict)
    viewers: Viewers = "here"

    def shown_to(self, address: str | None) -> list[str]:
        """The cameras whose pictures a browser at that address may see."""
        allowed = self.viewers == "network" or (self.viewers == "here" and _is_this_machine(address))
        return list(self.cameras) if allowed else []


NO_PICTURES = LivePictures()


def add_live_pictures(app: Flask, pictures: LivePictures) -> None:
    """Adds the addresses `/cameras` and `/picture` to the gate's screen."""
    places = BoundedSemaphore(MOST_AT_ONCE)

    @app.get("/cameras")
    def cameras() -> dict[str, list[str]]:
        return {"cameras": pictures.shown_to(request.remote_addr)}

    @app.get("/picture")
    def picture() -> Response:
        name = request.args.get("camera", "")
        if name not in pictures.shown_to(request.remote_addr):
            return Response("There is no such camera for you.\n", 404, mimetype="text/plain")
        if not places.acquire(blocking=False):
            return Response(status=NONE_NEWER)
        try:
            return _answer(pictures.cameras[name])
        finally:
            places.release()


def _answer(camera: LivePicture) -> Response:
    newest = camera.picture(request.args.get("after", -1, int), WAIT_S)
    if newest is None:
        return Response(status=NONE_NEWER)
    return Response(newest.jpeg, mimetype="image/jpeg", headers={"Picture-Number": str(newest.number)})


def _is_this_machine(address: str | None) -> bool:
    try:
        return ip_address(address or "").is_loopback
    except ValueError:
        return False
