"""Binds the application's URLs to a request as Flask does, without doing twice what comes out alike for many requests.

The host that requests name is read and checked once. So is the way of an address through the rules, but for its ids:
what two addresses have alike once their ids are left out leads to the same view.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from flask import Flask, Request
from werkzeug.exceptions import BadHost
from werkzeug.routing import MapAdapter, Rule
from werkzeug.sansio.utils import get_host

_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Key = tuple[str, str, int]
"""A method, an address with a star for each of its ids, and how many those are."""
Ways = dict[Key, tuple[Rule, tuple[str, ...]]]
"""Rules, and what they name the ids of an address in their order. There are no more than the application has rules."""


def install(app: Flask) -> None:
    """Find views this way; requests without a host, or for another protocol, go Flask's."""
    by_flask = app.create_url_adapter
    ways: Ways = {}

    def create_url_adapter(request: Request | None) -> MapAdapter | None:
        if request is None or "HTTP_HOST" not in request.environ or "HTTP_UPGRADE" in request.environ:
            return by_flask(request)
        request.host, server = _checked(request.scheme, request.environ["HTTP_HOST"])
        query = request.query_string.decode(errors="replace")
        adapter = _Adapter(
            app.url_map, server, request.root_path, "", request.scheme, request.path, request.method, query
        )
        adapter.ways = ways
        return adapter

    app.create_url_adapter = create_url_adapter  # type: ignore[method-assign]


class _Adapter(MapAdapter):
    """Finds the view of a request; Werkzeug's matcher is asked once for addresses that differ in their ids only."""

    ways: Ways

    def match(self, *args: Any, **named: Any) -> Any:
        """The rule and its arguments, where Flask asks for those of this request."""
        if args or named != {"return_rule": True}:
            return super().match(*args, **named)
        path = self.path_info
        ids = _ID.findall(path)
        key = (self.default_method, _ID.sub("*", path) if ids else path, len(ids))
        known = self.ways.get(key)
        if known is not None:
            return known[0], dict(zip(known[1], ids, strict=True))
        rule, arguments = super().match(return_rule=True)
        self._learn(key, ids, rule, arguments)
        return rule, arguments

    def _learn(self, key: Key, ids: list[str], rule: Rule, arguments: Mapping[str, Any]) -> None:
        """Keep the way of an address whose arguments are ids, and no other: there is no end to names."""
        names = {value: name for name, value in arguments.items()}
        each_is_one = len(ids) == len(set(ids)) and names.keys() == set(ids)
        if each_is_one and "*" not in self.path_info:
            self.ways[key] = rule, tuple(names[id] for id in ids)


@lru_cache(64)
def _checked(scheme: str, host: str) -> tuple[str, str]:
    """The host as the request shows it, and as redirects name it; BadHost for one that is none."""
    shown = get_host(scheme, host)
    name, colon, port = shown.lower().partition(":")
    try:
        return shown, f"{name.encode('idna').decode('ascii')}{colon}{port}"
    except UnicodeError as wrong:
        raise BadHost from wrong
