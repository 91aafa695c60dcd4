"""Response schemas of guest sessions."""

from __future__ import annotations

from sync_server.plumbing.api.schemas import IsoTime, View


class ShopView(View):
    """The shop of a guest session."""

    slug: str
    name: str


class GuestView(View):
    """A guest's session."""

    kind: str
    csrf_token: str
    ends_at: IsoTime
    organisation: ShopView
