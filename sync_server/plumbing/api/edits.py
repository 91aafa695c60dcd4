"""Two editors do not overwrite each other: what can be edited carries an etag, and an edit may insist on it."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import ClassVar, Self, TypeVar

import orjson
from flask import g, request
from pydantic import model_validator

from shared.errors import ChangedMeanwhile
from sync_server.plumbing.api.schemas import View


class EditedView(View):
    """A response about something that can be edited."""

    unedited: ClassVar[frozenset[str]] = frozenset()
    """Fields that change without an edit: figures, and what follows from the time of day."""

    etag: str = ""
    """Another one after each edit: send it as If-Match, and nobody else's edit is overwritten."""

    @model_validator(mode="after")
    def _tag(self) -> Self:
        shown = self.model_dump(exclude={*self.unedited, "etag"})
        self.etag = blake2b(orjson.dumps(shown, option=orjson.OPT_SORT_KEYS), digest_size=12).hexdigest()
        return self


Shown = TypeVar("Shown", bound=EditedView)


def tagged(view: Shown) -> Shown:
    """The response that shows one thing, with its etag in the header too."""
    g.etag = view.etag
    return view


def check_unchanged(current: Callable[[], EditedView]) -> None:
    """ChangedMeanwhile unless this is still what the editor has seen; call it once what is edited is locked."""
    if request.headers.get("If-Match") is None:
        return
    etag = current().etag
    if not request.if_match.contains(etag):
        raise ChangedMeanwhile(etag=etag)
