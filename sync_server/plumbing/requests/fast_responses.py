"""Responses whose headers and body are not copied and wrapped once more on their way out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, Final, cast

from flask import Response
from werkzeug.datastructures import Headers

_NAME: Final = itemgetter(0)
_ADJUSTED: Final = frozenset({"location", "content-location"})
_WITHOUT_BODY: Final = frozenset({204, 304})


def names_of(headers: Iterable[tuple[str, str]]) -> set[str]:
    """The names of these headers, in small letters."""
    return {*map(str.lower, map(_NAME, headers))}


class FastResponse(Response):
    """A response whose headers go out as they are, unless Werkzeug has to adjust one."""

    usual: Sequence[tuple[str, str, str]] = ()
    """Headers that it has unless the view set others: the name in small letters, the name, the value."""

    def get_wsgi_response(self, environ: Any) -> tuple[Iterable[bytes], str, list[tuple[str, str]]]:
        """Body, status and headers."""
        body, status, headers = super().get_wsgi_response(environ)
        present = names_of(headers)
        return body, status, headers + [(name, value) for lower, name, value in self.usual if lower not in present]

    def get_app_iter(self, environ: Any) -> Iterable[bytes]:
        """The body; one that is ready and has nothing to close needs no iterator of its own."""
        body = self.response
        ready = isinstance(body, list) and len(body) == 1 and isinstance(body[0], bytes) and not self._on_close
        if ready and environ["REQUEST_METHOD"] != "HEAD" and self._may_have_body():
            return cast("list[bytes]", body)
        return super().get_app_iter(environ)

    def _may_have_body(self) -> bool:
        return self.status_code >= 200 and self.status_code not in _WITHOUT_BODY

    def get_wsgi_headers(self, environ: Any) -> Headers:
        """The headers; copying and checking them again costs a thirtieth of a hold."""
        names = names_of(self.headers)
        ready = "content-length" in names and self._may_have_body()
        return self.headers if ready and names.isdisjoint(_ADJUSTED) else super().get_wsgi_headers(environ)
