"""Requests with JSON bodies: what they may leave out, and what is refused before a view sees it."""

from __future__ import annotations

from typing import Any, Final, cast

from flask import Request
from flask.json.provider import DefaultJSONProvider
from werkzeug.datastructures import ImmutableMultiDict
from werkzeug.exceptions import ClientDisconnected
from werkzeug.http import parse_cookie
from werkzeug.utils import cached_property

from shared.errors import InvalidRequest
from sync_server.plumbing.language.text import all_as_shown
from sync_server.plumbing.storable_json import check_storable, check_utf8, read_json

_LONG: Final = 5
"""Bodies whose size has as many digits are left to Werkzeug, which reads them piece by piece and up to the limit."""


class StrictJson(DefaultJSONProvider):
    """How bodies of requests are read, and small responses written: fields stay in their order."""

    sort_keys = False

    def loads(self, s: str | bytes, **_: Any) -> Any:
        """The value; InvalidRequest where an object has a key twice."""
        return read_json(s)


class JsonRequest(Request):
    """A request whose body may be left out where every field has a default."""

    @cached_property
    def cookies(self) -> ImmutableMultiDict[str, str]:
        """The cookies, read from the WSGI environment directly: Werkzeug would search all headers."""
        found: Any = parse_cookie(self.environ, cls=self.dict_storage_class)
        return cast("ImmutableMultiDict[str, str]", found)

    def get_data(self, *args: Any, **named: Any) -> Any:
        """The body; a short one, which no limit refuses, is read in one call that knows how long it is."""
        own, environ = self.__dict__, self.environ
        size = environ.get("CONTENT_LENGTH", "")
        short = size.isdigit() and len(size) < _LONG and "HTTP_TRANSFER_ENCODING" not in environ
        if short and "_cached_data" not in own and "stream" not in own:
            own["_cached_data"] = self._read(int(size))
        return super().get_data(*args, **named)

    def _read(self, size: int) -> bytes:
        try:
            return cast("bytes", self.environ["wsgi.input"].read(size))
        except (OSError, ValueError) as ended:  # as Werkzeug sees them
            raise ClientDisconnected from ended

    def get_json(self, force: bool = False, silent: bool = False, cache: bool = True) -> Any:
        """The body as JSON; an empty body is an empty object."""
        data = self.get_data()
        if not data:
            return {}
        try:
            check_utf8(data)
            body = super().get_json(force=force, silent=silent, cache=cache)
            if not isinstance(body, dict):
                raise InvalidRequest("Send one JSON object.")  # null is none, and would pass as one without fields
            check_storable(data, body)
            return body if data.isascii() and b"\\u" not in data else all_as_shown(body)
        except RecursionError:
            problem = InvalidRequest("The body is nested too deeply.")
        except InvalidRequest as found:
            problem = found
        if silent:
            return None
        raise problem
