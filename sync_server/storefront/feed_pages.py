"""/o/{slug}: what an organiser has on, with search and filters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import orjson
from flask import Response, request

from shared.clock import Millis
from shared.errors import GatehouseError
from sync_server.listings import responses
from sync_server.listings.responses import FeedCriteria
from sync_server.plumbing.language.folding import fold
from sync_server.plumbing.language.words import split_words
from sync_server.plumbing.languages import asked_for
from sync_server.plumbing.parts import parts
from sync_server.storefront.cards import event_card
from sync_server.storefront.page import Page, bp, page_of, render

ON_A_PAGE: Final = 24
_MOST: Final = 200
_TRENDING: Final = "trending"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a visitor looks for, as it was typed."""

    q: str
    city: str
    starts: str
    ends: str
    sort: str
    lang: str

    @classmethod
    def of_request(cls) -> Wanted:
        """From the address; what makes no sense is left out."""

        def typed(name: str) -> str:
            return request.args.get(name, "").replace("\0", "").strip()[:_MOST]

        sort = typed("sort") if typed("sort") == _TRENDING else ""
        starts, ends = (typed(name) if _day(typed(name)) is not None else "" for name in ("from", "to"))
        return cls(typed("q"), typed("city")[:50], starts, ends, sort, asked_for())

    @property
    def any(self) -> bool:
        """Whether anything is filtered."""
        return bool(self.q or self.city or self.starts or self.ends)

    def query(self) -> dict[str, str]:
        """For the address of another page of the same."""
        found = {"q": self.q, "city": self.city, "from": self.starts, "to": self.ends, "sort": self.sort}
        return {name: value for name, value in found.items() if value}

    def criteria(self, organisation: str) -> FeedCriteria:
        """For the listing. A day begins and ends by UTC, as one feed has venues in many zones."""
        ends = _day(self.ends)
        return FeedCriteria(
            sort=self.sort or "latest",
            organisation=organisation,
            city=fold(self.city) or None,
            starts_from=_day(self.starts),
            starts_before=None if ends is None else ends + 86_400_000,
            words=tuple(split_words(self.q)) if self.q else None,
        )


def _day(text: str) -> Millis | None:
    try:
        return round(datetime.fromisoformat(f"{text}T00:00:00+00:00").timestamp() * 1000) if text else None
    except (ValueError, OverflowError):
        return None


@bp.get("/<slug>", strict_slashes=False)
def feed(slug: str) -> Response:
    """The events of an organiser: the next first, or those that interest most people."""
    page, wanted = replace(page_of(slug, public=True), all_events=True), Wanted.of_request()
    found, problem = _found(page, wanted, request.args.get("after"))
    after = found["next"]
    query = wanted.query()
    return render(
        page,
        "feed.html",
        cards=[event_card(each, page) for each in found["items"]],
        cities=orjson.loads(responses.cities_of(parts(), page.shop.id)),
        wanted={**wanted.query(), "from": wanted.starts, "lang": wanted.lang, "any": wanted.any},
        problem=problem,
        following=page.public_link(**query, after=after) if after else "",
        orders={
            "latest": page.public_link(**{**query, "sort": ""}),
            "trending": page.public_link(**{**query, "sort": _TRENDING}),
        },
    )


def _found(page: Page, wanted: Wanted, after: str | None) -> tuple[dict[str, Any], str]:
    """A page of the listing, or nothing and why: a place in the list that has ended, for instance."""
    try:
        found = responses.feed(parts(), wanted.criteria(page.shop.slug), after, ON_A_PAGE)
    except GatehouseError:
        return {"items": [], "next": None}, page.t("feed.list_ended")
    return orjson.loads(found), ""
