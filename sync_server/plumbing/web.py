"""The words of HTTP that all rooms share: who asks, request ids, the one shape of an error."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast
from urllib.parse import unquote

from apiflask import APIFlask, HTTPError
from flask import Request, Response, g, has_request_context, jsonify, request
from sqlalchemy.exc import DataError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from werkzeug.datastructures import Headers, ImmutableMultiDict
from werkzeug.exceptions import HTTPException
from werkzeug.http import parse_cookie
from werkzeug.routing import IntegerConverter, Map
from werkzeug.utils import cached_property

from shared.errors import Forbidden, GatehouseError, InvalidRequest, NotSignedIn, Unavailable
from shared.ids import uuid7
from sync_server.plumbing.bodies import check_keepable, check_utf8, visible
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import SYSTEM, Action, Actor, Deed, Principal

P = ParamSpec("P")
T = TypeVar("T")

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

_STANDING = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "same-origin"),
    ("X-Frame-Options", "DENY"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Cache-Control", "no-store"),
)
_HTTPS = (("Strict-Transport-Security", "max-age=31536000"),)
_STANDING_HTTP = tuple((name.lower(), name, value) for name, value in _STANDING)
_STANDING_HTTPS = tuple((name.lower(), name, value) for name, value in (*_STANDING, *_HTTPS))

_WHOLE = "_schema"
"""As the validator calls a body that is wrong as a whole."""
_WITHOUT_BODY = frozenset({204, 304})
_MOST_MISTAKES = 50
_LONGEST_NAME = 200

_WORDS = {
    400: ("invalid_request", "The request is not understood. Is the body valid JSON?"),
    404: ("not_found", "There is nothing here by that name."),
    405: ("method_not_allowed", "This address does not answer to that method."),
    406: ("not_acceptable", "This address cannot answer in that form."),
    413: ("too_large", "The request is larger than this server accepts."),
    415: ("unsupported_media_type", "Send JSON, with the header Content-Type: application/json."),
}


def request_id() -> str:
    """The id by which this request can be found in the log."""
    return cast(str, g.get("request_id", "")) if has_request_context() else ""


def current_request() -> Request:
    """The request itself, for whoever asks it many things."""
    return cast(Request, cast(Any, request)._get_current_object())


def current_principal() -> Principal:
    """Whoever asks; NotSignedIn where nobody known does."""
    principal = maybe_principal()
    if principal is None:
        raise NotSignedIn
    return principal


def maybe_principal() -> Principal | None:
    """Whoever asks, if known."""
    return cast("Principal | None", g.get("principal"))


def organisation() -> str:
    """The organisation of this request: always from session or token, never from a field."""
    organisation_id = current_principal().organisation_id
    if not organisation_id:
        raise Forbidden("Choose an organisation first: POST /api/session/organisation.", code="no_organisation")
    return organisation_id


def current_actor() -> Actor:
    """Who the audit log shall name for what this request does."""
    principal = maybe_principal()
    if principal is None:
        return Actor(SYSTEM.kind, ip=client_address(), user_agent=_user_agent(), request_id=request_id())
    if principal.kind == "guest":  # nobody approves of what guests do, and they need no reason
        return Actor(principal.kind, principal.id, client_address(), _user_agent(), request_id())
    # Staff of the platform who do not run the organisation act on it from outside, and the log says so.
    outside = bool(principal.platform_role) and principal.role not in {"owner", "admin"}
    return Actor(
        "platform" if outside else principal.kind,
        principal.id,
        client_address(),
        _user_agent(),
        request_id(),
        _said("X-Tenant-Approval", "approval")[:200],
        principal.platform_role if outside else "",
        _said("X-Reason", "reason")[:1000],
    )


def _said(header: str, field: str) -> str:
    """What a script says in a header, a page in a field of its form, and either in a body that has such a field."""
    body = request.get_json(silent=True) if request.is_json and request.method not in SAFE else None
    said = body.get(field) if isinstance(body, dict) else None
    # Headers carry ASCII only: other letters come percent-encoded, as in addresses.
    words = unquote(request.headers.get(header, "")) or request.form.get(field) or said
    return visible(words).strip() if isinstance(words, str) else ""


def deed() -> Deed:
    """What a use case is told about this request."""
    here = parts()
    return Deed(current_actor(), here.clock(), here.entropy)


def client_address() -> str:
    """Where the request comes from."""
    return request.remote_addr or ""


def _user_agent() -> str:
    return request.headers.get("User-Agent", "")[:300]


def requires(action: Action) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let a view run only for principals that may do this."""

    def guard(view: Callable[P, T]) -> Callable[P, T]:
        @wraps(view)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
            require(action)
            return view(*args, **kwargs)

        return marked(guarded, action)

    return guard


def marked(view: Callable[P, T], action: Action) -> Callable[P, T]:
    """The same view, saying which action it asks for: the matrix of roles is made from what views say."""
    view.__dict__["asks_for"] = action
    return view


def asked_for(view: Callable[..., Any]) -> Action | None:
    """The action that a view asks for; None where it asks for none."""
    return cast("Action | None", getattr(view, "asks_for", None))


def signed_in(view: Callable[P, T]) -> Callable[P, T]:
    """Let a view run only for somebody known, whatever they may do."""

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        current_principal()
        return view(*args, **kwargs)

    return guarded


def require(action: Action) -> None:
    """Forbidden unless whoever asks may do this."""
    if not parts().may(current_principal(), action):
        raise Forbidden(f"Your role does not allow this ({action.value}). Ask an owner or admin of the organisation.")


def error_answer(error: GatehouseError) -> Response:
    """An error as every client of the API sees it."""
    body: dict[str, Any] = {"code": error.error_code, "message": error.message, "request_id": request_id()}
    if error.details:
        body["details"] = error.details
    answer = jsonify({"error": body})
    answer.status_code = error.status
    if error.retryable:
        answer.headers["Retry-After"] = str(error.details.get("retry_after", 2))
    return answer


class JsonRequest(Request):
    """A request whose body may be left out where every field has a default."""

    @cached_property
    def cookies(self) -> ImmutableMultiDict[str, str]:
        """What the browser keeps of us, from where the server has put it: else every header is looked through."""
        found: Any = parse_cookie(self.environ, cls=self.dict_storage_class)
        return cast("ImmutableMultiDict[str, str]", found)

    def get_json(self, force: bool = False, silent: bool = False, cache: bool = True) -> Any:
        """The body as JSON; an empty body is an empty object."""
        data = self.get_data()
        if not data:
            return {}
        try:
            check_utf8(data)
            body = super().get_json(force=force, silent=silent, cache=cache)
            check_keepable(data, body)
            return body
        except RecursionError:
            problem = InvalidRequest("The body is nested deeper than anything that this server takes.")
        except InvalidRequest as found:
            problem = found
        if silent:
            return None
        raise problem


_TO_PUT_RIGHT = frozenset({"location", "content-location"})


class Answer(Response):
    """An answer whose headers go out as they are, unless one of them has to be put right first."""

    def get_wsgi_headers(self, environ: Any) -> Headers:
        """To copy and check them all once more is a thirtieth of a hold's price."""
        said = {name.lower() for name, _ in self.headers}
        ready = "content-length" in said and self.status_code >= 200 and self.status_code not in _WITHOUT_BODY
        return self.headers if ready and said.isdisjoint(_TO_PUT_RIGHT) else super().get_wsgi_headers(environ)


class SmallNumber(IntegerConverter):
    """A number in an address that every column can hold; a larger one names nothing."""

    def __init__(self, map: Map) -> None:  # noqa: A002 - the router calls it so
        """Of 0 to 2**31 - 1."""
        super().__init__(map, min=0, max=2**31 - 1)


def install(app: APIFlask) -> None:
    """Give an app request ids and the one shape of errors."""
    app.request_class, app.response_class = JsonRequest, Answer
    # Nothing here is a coroutine: to look for that at each function of each request is a thirtieth of a hold's price.
    app.ensure_sync = _as_it_is  # type: ignore[method-assign]
    app.url_map.converters["int"] = SmallNumber
    app.before_request(_begin)
    app.after_request(_end)
    app.register_error_handler(GatehouseError, _told)
    app.register_error_handler(HTTPError, _from_apiflask)
    app.register_error_handler(HTTPException, _from_werkzeug)
    app.register_error_handler(DataError, _unstorable)
    app.register_error_handler(OperationalError, _database_away)
    app.register_error_handler(PoolTimeout, _database_away)
    app.register_error_handler(Exception, _unexpected)


def _as_it_is(func: Callable[..., Any]) -> Callable[..., Any]:
    return func


def _begin() -> None:
    here = parts()
    now = here.clock()
    g.started, g.request_id = now, uuid7(now, here.entropy)


def _end(answer: Response) -> Response:
    # Each is found anew at every mention of the names that Flask lends us.
    here, asked, its_id = parts(), current_request(), request_id()
    rule = asked.url_rule.rule if asked.url_rule else "unknown"
    millis, status = here.clock() - g.get("started", 0), answer.status_code
    _add_headers(answer, its_id, forever_https=here.config.secure_cookies)
    here.metrics.answered(asked.method, rule, status, millis / 1000)
    # The rule, not the address: addresses hold ids that belong to somebody.
    LOG.info("request", method=asked.method, route=rule, status=status, ms=millis, request_id=its_id)
    return answer


def _add_headers(answer: Response, its_id: str, *, forever_https: bool) -> None:
    """What every answer says, where its view has not said otherwise."""
    headers = answer.headers
    said = {name.lower() for name, _ in headers}
    headers["X-Request-Id"] = its_id
    for lower, name, value in _STANDING_HTTPS if forever_https else _STANDING_HTTP:
        if lower not in said:
            headers.add(name, value)


def _told(error: GatehouseError) -> Response:
    return error_answer(error)


def _from_apiflask(error: HTTPError) -> Response:
    if isinstance(error.detail, dict) and error.status_code in {400, 422}:
        return error_answer(invalid_fields(_flattened(error.detail)))
    return _plain(error.status_code, str(error.message))


def _flattened(detail: dict[str, Any]) -> Iterable[tuple[str, str]]:
    for fields in detail.values():
        for field, problems in fields.items():
            yield "" if field == _WHOLE else field, _in_words("; ".join(problems))


def _in_words(problem: str) -> str:
    """The validator's own words, but for those that speak of this program's classes."""
    return "Send one JSON object" if "dictionary or instance of" in problem else problem.replace("Value error, ", "")


def invalid_fields(problems: Iterable[tuple[str, str]]) -> InvalidRequest:
    """InvalidRequest that names each field and what is wrong with it; of very many mistakes, the first ones."""
    every = list(problems)
    # A body full of mistakes would else be answered by one that is many times as large.
    listed = [(field[:_LONGEST_NAME], problem) for field, problem in every[:_MOST_MISTAKES]]
    more = [f"And {len(every) - len(listed)} more like these."] if len(every) > len(listed) else []
    words = " ".join([*(f"{field}: {problem}." if field else f"{problem}." for field, problem in listed), *more])
    return InvalidRequest(words, fields=[{"field": field, "problem": problem} for field, problem in listed])


def _from_werkzeug(error: HTTPException) -> Response:
    answer = _plain(error.code or 500, error.description or error.name)
    for name, value in error.get_headers():
        if name in {"Allow", "Retry-After", "Location"}:
            answer.headers[name] = value
    if error.code is not None and 300 <= error.code < 400:
        return cast(Response, error.get_response())
    return answer


def _plain(status: int, description: str) -> Response:
    code, words = _WORDS.get(status, ("http_" + str(status), description))
    answer = jsonify({"error": {"code": code, "message": words, "request_id": request_id()}})
    answer.status_code = status
    return answer


def _database_away(error: Exception) -> Response:
    LOG.error("database_away", problem=type(error).__name__, request_id=request_id())
    return error_answer(
        Unavailable("The database does not answer for the moment. Nothing was changed. Try again shortly.")
    )


def _unstorable(_error: Exception) -> Response:
    return error_answer(InvalidRequest("A text or number in this request is nothing that can be kept."))


def _unexpected(error: Exception) -> Response:
    LOG.error("unexpected", request_id=request_id(), exc_info=error)
    return error_answer(GatehouseError())
