"""Shared by all pages of the shop: the blueprint, rendering, languages, caching and security headers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from apiflask import APIBlueprint
from flask import Response, current_app, g, render_template, request
from markupsafe import Markup

from shared.errors import GatehouseError, NotFound, TooMany
from sync_server.appearance import accents
from sync_server.appearance.moments import Style
from sync_server.plumbing import languages
from sync_server.plumbing.language.texts import LANGUAGES, Translator, translator
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import error_response, request_id
from sync_server.storefront.shops import Shop, shop_of
from sync_server.waiting.handing_over import listener_url

bp = APIBlueprint("storefront", __name__, url_prefix="/o", template_folder="templates", enable_openapi=False)

TEXTS: Final = Path(__file__).with_name("texts")
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'{scripts}; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'{connections}; frame-src {frames}; form-action 'self'; base-uri 'none'; "
    "frame-ancestors {embedder}"
)
PUBLIC: Final = "public, max-age=1, s-maxage=1"
PRIVATE: Final = "no-store"
EMBEDDED_BY: Final = "embedded_by"
"""Names, in the address of a page, the website that shows it in a frame."""
ALL_EVENTS: Final = "all_events"
"""Says, in the address of an event in a frame, that the list of all events is offered beside it."""


@dataclass(frozen=True, slots=True)
class Page:
    """What the templates of a page are filled in with, besides its own values."""

    shop: Shop
    t: Translator
    public: bool  # the same for everybody, so that shared caches may keep it
    embedder: str = ""  # the website that shows it inside a page of its own
    all_events: bool = False  # that website shows all events, and not one alone

    @property
    def language(self) -> str:
        """In which language it is."""
        return self.t.language

    def style(self, timezone: str = "UTC") -> Style:
        """How dates and amounts are written, by the clocks of a venue."""
        return Style.of(self.language, timezone)

    def link(self, path: str = "", **query: str) -> str:
        """The address of another page of the shop, in the language that was asked for."""
        wanted = {languages.PARAMETER: languages.asked_for()} if self.public else {}
        found = urlencode({name: value for name, value in (query | wanted).items() if value})
        return f"{self.shop.at}{path}{'?' if found else ''}{found}"

    def public_link(self, path: str = "", **query: str) -> str:
        """The address of another page that is the same for everybody: it stays on the website that shows this one."""
        framed = {EMBEDDED_BY: self.embedder, ALL_EVENTS: "1" if self.embedder and self.all_events else ""}
        return self.link(path, **query, **framed)

    @property
    def here(self) -> Markup:
        """For links to what is public: inside a frame they stay in it, and all others open a tab of their own."""
        return Markup(' target="_self"') if self.embedder else Markup("")

    def in_language(self, language: str) -> str:
        """The address of this page in another language."""
        query = urlencode({**request.args.to_dict(), languages.PARAMETER: language})
        return f"{quote(request.path)}?{query}"


def page_of(slug: str, *, public: bool = False) -> Page:
    """The page that is asked for; NotFound where there is no such shop. What is public depends on no cookie."""
    shop = shop_of(parts(), slug)
    g.shop = shop
    t = translator(TEXTS, languages.of_request(shop.language, with_cookie=not public))
    return Page(shop, t, public, _embedder(shop) if public else "", request.args.get(ALL_EVENTS) == "1")


def _embedder(shop: Shop) -> str:
    """The website that shows this page, where the organiser has listed it; browsers show it on no other."""
    asked = request.args.get(EMBEDDED_BY, "")
    return asked if asked in shop.embed_origins else ""


def render(page: Page, template: str, status: int = 200, /, **values: Any) -> Response:
    """The page, with the headers that pages of its kind have."""
    colour = values.pop("colour", page.shop.colour)
    shared: dict[str, Any] = {
        "page": page,
        "shop": page.shop,
        "t": page.t,
        "static": static,
        "languages": LANGUAGES,
        "accent": accents.accent_path(colour),
        "base_url": parts().config.base_url.rstrip("/"),
        "mails": parts().config.mail_url is not None,
    }
    body = render_template(f"storefront/{template}", **shared, **values)
    response = Response(body, status, content_type="text/html; charset=utf-8")
    if page.embedder:  # browsers that know frame-ancestors ignore X-Frame-Options, which stays for all others
        response.headers["Content-Security-Policy"] = content_security_policy(embedder=page.embedder)
    if page.public and status == 200:
        return _shared(response, body)
    if not page.public:
        languages.remember(response)
    return response


def _shared(response: Response, body: str) -> Response:
    """Shared caches may keep it: it depends on the address and on the preferred language, and on no cookie."""
    response.headers["Cache-Control"] = PUBLIC
    response.vary.add("Accept-Language")
    response.set_etag(blake2b(body.encode(), digest_size=12).hexdigest())
    return response.make_conditional(request)  # type: ignore[return-value]  # it is the same response


def static(name: str) -> str:
    """The address of a static file, another whenever its content is."""
    return _static(str(current_app.static_folder), name)


@cache
def _static(folder: str, name: str) -> str:
    version = blake2b((Path(folder) / name).read_bytes(), digest_size=6).hexdigest()
    return f"/static/{name}?v={version}"


def content_security_policy(
    *, scripts: str = "", connections: str = "", frames: str = "'none'", embedder: str = "'none'"
) -> str:
    """The policy of a page: only what this server serves, and what is named here."""
    streams = listener_url()
    allowed = " ".join(each for each in (streams, connections) if each)
    return CONTENT_SECURITY_POLICY.format(
        scripts=f" {scripts}" if scripts else "",
        connections=f" {allowed}" if allowed else "",
        frames=frames,
        embedder=embedder,
    )


@bp.after_request
def _set_headers(response: Response) -> Response:
    headers = response.headers
    headers.setdefault("Content-Security-Policy", content_security_policy())
    headers.setdefault("Cache-Control", PRIVATE)
    if headers["Cache-Control"] == PRIVATE:
        headers.setdefault("X-Robots-Tag", "noindex")
    return response


@bp.get("/<slug>/<path:_rest>")
def not_found(slug: str, _rest: str) -> Response:
    """What is not there is a page, too."""
    page_of(slug)
    raise NotFound("There is no such page in this shop.", code="not_found")


def error_page(error: GatehouseError, status: int) -> Response:
    """What happened, and what to do, in the language of the visitor; asks the database nothing, as it may be away."""
    shop: Shop | None = g.get("shop")
    if shop is None:
        language = languages.of_request()
        page = Page(Shop("", "", "", language, "", accents.DEFAULT, "", ""), translator(TEXTS, language), public=False)
    else:
        page = Page(shop, translator(TEXTS, languages.of_request(shop.language)), public=False)
    kind = _kind(status)
    key = f"error.{error.error_code}"
    message = page.t(key) if key in page.t else page.t(f"error.{kind}_hint") if kind in _HINTS else error.message
    shown = {"title": page.t(f"error.{kind}"), "message": message, "kind": kind, "request_id": request_id()}
    return _set_headers(render(page, "error.html", status, error=error, **shown))


_HINTS: Final = frozenset({"busy", "away"})
"""Kinds of errors that are told in the visitor's language, whatever their cause."""


def _kind(status: int) -> str:
    if status == TooMany.status:
        return "busy"
    if status >= GatehouseError.status:
        return "away"
    return "gone" if status in {404, 405} else "refused"


@bp.errorhandler(GatehouseError)
def _show_error(error: GatehouseError) -> Response:
    return error_response(error)
