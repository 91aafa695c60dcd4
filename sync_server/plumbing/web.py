"""HTTP for all packages: principal and context of a request, request ids, error responses, headers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar, cast

from apiflask import APIFlask, HTTPError
from flask import Request, Response, current_app, g, jsonify, request
from flask.globals import _cv_request
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from werkzeug.exceptions import HTTPException
from werkzeug.http import HTTP_STATUS_CODES
from werkzeug.routing import IntegerConverter, Map

from shared.errors import Forbidden, GatehouseError, InvalidRequest, NotSignedIn
from shared.ids import as_id, uuid7
from shared.words.mistakes import in_words
from sync_server.plumbing.database import COMMITS
from sync_server.plumbing.parts import CONTEXT, parts
from sync_server.plumbing.requests import error_pages, url_adapters
from sync_server.plumbing.requests.fast_responses import FastResponse
from sync_server.plumbing.requests.json_requests import JsonRequest, StrictJson
from sync_server.plumbing.requests.principals import SYSTEM, Action, ActionContext, Actor, Principal
from sync_server.plumbing.sql.failures import Failure, failure_of, refusal
from sync_server.plumbing.stated import stated
from sync_server.plumbing.telemetry import tracing
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.plumbing.telemetry.metrics import known_method

P = ParamSpec("P")
T = TypeVar("T")

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

_HEADERS = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "same-origin"),
    ("X-Frame-Options", "DENY"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Cache-Control", "no-store"),
)
_HTTPS = (("Strict-Transport-Security", "max-age=31536000"),)
_HEADERS_HTTP = tuple((name.lower(), name, value) for name, value in _HEADERS)
_HEADERS_HTTPS = tuple((name.lower(), name, value) for name, value in (*_HEADERS, *_HTTPS))

OTHER_IDS = frozenset({"cover_id", "image_id", "key_id", "membership_id", "seat_id", "ticket_id"})
"""Names in URLs of what is no UUID: hashes, numbers, and what organisers name themselves."""
_WHOLE_BODY = "_schema"
"""The validator's name for a body that is wrong as a whole."""
_MAX_PROBLEMS = 50
MAX_REPEATS = 3
"""How often a request is run again that collided with another in the database."""
_MAX_NAME = 200
SLOW_SEARCH_MS = 500

_MESSAGES = {
    400: ("invalid_request", "The request could not be read. Is the body valid JSON?"),
    404: ("not_found", "Not found."),
    405: ("method_not_allowed", "This URL does not allow that method."),
    406: ("not_acceptable", "This URL cannot respond in an accepted format."),
    413: ("too_large", "The request is larger than this server accepts."),
    415: ("unsupported_media_type", "Send JSON, with the header Content-Type: application/json."),
}


def request_id() -> str:
    """The id of this request in the log."""
    here = CONTEXT.get(None)
    return "" if here is None else cast(str, here.g.get("request_id", ""))


def current_request() -> Request:
    """The request itself: the proxy looks it up at every access."""
    return _cv_request.get().request


def current_g() -> Any:
    """What is kept for this request, without a lookup at every access."""
    return CONTEXT.get().g


def current_principal() -> Principal:
    """The principal of this request, or NotSignedIn: in a shop, where nobody needs an account, `no_session`."""
    principal = maybe_principal()
    if principal is None and "slug" in (request.view_args or {}):
        raise NotSignedIn("Start a guest session of this shop first.", code="no_session")
    if principal is None:
        raise NotSignedIn
    return principal


def maybe_principal() -> Principal | None:
    """The principal of this request, or None."""
    return cast("Principal | None", current_g().get("principal"))


def organisation() -> str:
    """The organisation of this request, from the session or the token, never from a field."""
    organisation_id = current_principal().organisation_id
    if not organisation_id:
        raise Forbidden("Choose an organisation first: POST /api/session/organisation.", code="no_organisation")
    return organisation_id


def current_actor() -> Actor:
    """The actor that the audit log names for this request."""
    principal = maybe_principal()
    if principal is None:
        return Actor(SYSTEM.kind, ip=client_address(), user_agent=_user_agent(), request_id=request_id())
    if principal.kind == "guest":  # guests need neither approval nor reason
        return Actor(principal.kind, principal.id, client_address(), _user_agent(), request_id())
    # Platform staff without a leading role in the organisation act on it from outside, and the log says so.
    outside = bool(principal.platform_role) and principal.role not in {"owner", "admin"}
    return Actor(
        "platform" if outside else principal.kind,
        principal.id,
        client_address(),
        _user_agent(),
        request_id(),
        stated("X-Tenant-Approval", "approval")[:200],
        principal.platform_role if outside else "",
        stated("X-Reason", "reason")[:1000],
    )


def context() -> ActionContext:
    """The action context of this request, for use cases."""
    here = parts()
    return ActionContext(current_actor(), here.clock(), here.entropy, require)


def client_address() -> str:
    """The client address of this request."""
    return current_request().remote_addr or ""


def sent_header(name: str) -> str | None:
    """A header of this request, or None: Flask would look at each of them in three calls."""
    found: str | None = current_request().environ.get(_variable(name))
    return found


@cache  # of names in this program only
def _variable(header: str) -> str:
    return f"HTTP_{header.upper().replace('-', '_')}"


def _user_agent() -> str:
    return (sent_header("User-Agent") or "")[:300]


def requires(action: Action) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Allow a view only for principals that may do this."""

    def guard(view: Callable[P, T]) -> Callable[P, T]:
        @wraps(view)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
            require(action)
            return view(*args, **kwargs)

        return mark_action(guarded, action)

    return guard


def mark_action(view: Callable[P, T], action: Action) -> Callable[P, T]:
    """Note on a view which action it requires: the roles matrix is made from these notes."""
    view.__dict__["required_action"] = action
    return view


def search(*told: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Mark a view as a search: a slow one is logged with these fields of its query, and no other."""

    def mark(view: Callable[P, T]) -> Callable[P, T]:
        view.__dict__["search_fields"] = told
        return view

    return mark


def required_action(view: Callable[..., Any]) -> Action | None:
    """The action that a view requires, or None."""
    return cast("Action | None", getattr(view, "required_action", None))


def signed_in(view: Callable[P, T]) -> Callable[P, T]:
    """Allow a view for any principal."""

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        current_principal()
        return view(*args, **kwargs)

    return guarded


def require(action: Action) -> None:
    """Forbidden unless the principal may do this."""
    if not parts().may(current_principal(), action):
        message = f"Your role does not allow this ({action.value}). Ask an owner or admin of the organisation."
        raise Forbidden(message, action=action.value)


def error_response(error: GatehouseError, status: int | None = None) -> Response:
    """The response for an error, of the same form everywhere; `status` is that of a class without its own."""
    status = status or error.status
    page = error_pages.page_for(request.path)
    if page is not None:
        try:
            response = page(error, status)
        except Exception as broken:  # whatever is wrong, the answer says so
            LOG.error("error_page_failed", request_id=request_id(), exc_info=broken)
        else:
            response.headers.update(retry_headers(error))
            return response
    body: dict[str, Any] = {"code": error.error_code, "message": error.message, "request_id": request_id()}
    if error.details:
        body["details"] = error.details
    title = HTTP_STATUS_CODES.get(status, "Error")
    problem = {"type": f"urn:gatehouse:error:{error.error_code}", "title": title, "status": status}
    response = jsonify({**problem, "detail": error.message, "error": body})
    response.status_code, response.mimetype = status, "application/problem+json"
    if status == NotSignedIn.status:
        response.headers["WWW-Authenticate"] = 'Bearer realm="gatehouse"'
    response.headers.update(retry_headers(error))
    return response


def retry_headers(error: GatehouseError) -> dict[str, str]:
    """When to try again, where that may help."""
    return {"Retry-After": str(error.details.get("retry_after", 2))} if error.retryable else {}


class SmallNumber(IntegerConverter):
    """A number in a URL that every column can hold; a larger one is not found."""

    def __init__(self, map: Map) -> None:  # noqa: A002 - the router passes it by this name
        """Accepts 0 to 2**31 - 1."""
        super().__init__(map, min=0, max=2**31 - 1)


def install(app: APIFlask) -> None:
    """Set up request ids, headers and error responses of an app."""
    app.request_class, app.response_class, app.json = JsonRequest, FastResponse, StrictJson(app)
    # No view is a coroutine: checking that for each function of each request costs a thirtieth of a hold.
    app.ensure_sync = _unchanged  # type: ignore[method-assign]
    app.url_map.converters["int"] = SmallNumber
    url_adapters.install(app)
    app.url_value_preprocessor(_read_ids)
    app.before_request(_begin)
    app.after_request(_end)
    app.register_error_handler(GatehouseError, error_response)
    app.register_error_handler(HTTPError, _from_apiflask)
    app.register_error_handler(HTTPException, _from_werkzeug)
    app.register_error_handler(DataError, _unstorable)
    for failed in (DBAPIError, PoolTimeout):
        app.register_error_handler(failed, _database_failed)
    app.register_error_handler(Exception, _unexpected)


def _unchanged(func: Callable[..., Any]) -> Callable[..., Any]:
    return func


def _read_ids(_endpoint: str | None, values: dict[str, Any] | None) -> None:
    """Read the ids of the URL; what is no id becomes one that nothing has, and the view says what there is not."""
    for name, value in (values or {}).items():
        if name.endswith("_id") and name not in OTHER_IDS:
            values[name] = as_id(value)  # type: ignore[index]  # there are values


def _begin() -> None:
    here = parts()
    now = here.clock()
    kept, current = current_g(), current_request()
    kept.started, kept.request_id, kept.commits_before = now, uuid7(now, here.entropy), COMMITS.get()
    caller = current.environ.get("HTTP_TRACEPARENT", "")
    tracing.enter(tracing.of_request(caller, kept.request_id))
    if here.spans.on:
        route, method = current.url_rule.rule if current.url_rule else "unknown", known_method(current.method)
        kept.span = here.spans.request(f"{method} {route}", caller, method=method, route=route).__enter__()


def _end(response: Response) -> Response:
    # Local names, because each access through a Flask proxy is a lookup.
    here, current, kept = parts(), current_request(), current_g()
    its_id = kept.get("request_id", "")
    rule, method = current.url_rule.rule if current.url_rule else "unknown", known_method(current.method)
    millis, status = here.clock() - kept.get("started", 0), response.status_code
    response.headers.add("X-Request-Id", its_id)
    if "etag" in kept and status < 300:
        response.set_etag(kept.etag)
    if isinstance(response, FastResponse):
        response.usual = _HEADERS_HTTPS if here.config.secure_cookies else _HEADERS_HTTP
    if here.draining.is_set():
        response.headers["Connection"] = "close"  # the next request goes to another server
    here.metrics.observe_request(method, rule, status, millis / 1000)
    # The rule, not the URL: URLs contain ids of customers.
    LOG.info("request", method=method, route=rule, status=status, ms=millis, request_id=its_id)
    if millis > SLOW_SEARCH_MS:
        _note_slow_search(current, rule, millis)
    if "span" in kept:
        kept.span.note(status=status)
        kept.pop("span").__exit__(None, None, None)
    tracing.enter(None)
    return response


def _note_slow_search(current: Request, rule: str, millis: int) -> None:
    """Log and count a slow search: what was filtered by, never the words, which may be somebody's name."""
    view = current_app.view_functions.get(current.endpoint or "")
    told = getattr(view, "search_fields", None)
    if told is not None:
        parts().metrics.slow_searches.labels(rule).inc()
        fields = {name: current.args[name][:_MAX_NAME] for name in told if name in current.args}
        LOG.warning("slow_search", route=rule, ms=millis, request_id=request_id(), **fields)


def _from_apiflask(error: HTTPError) -> Response:
    if isinstance(error.detail, dict) and error.status_code in {400, 422}:
        return error_response(invalid_fields(_flattened(error.detail)))
    return _plain(error.status_code, str(error.message))


def _flattened(detail: dict[str, Any]) -> Iterable[tuple[str, str]]:
    for fields in detail.values():
        for field, problems in fields.items():
            yield "" if field == _WHOLE_BODY else field, "; ".join(map(in_words, problems))


def invalid_fields(problems: Iterable[tuple[str, str]]) -> InvalidRequest:
    """InvalidRequest that names each field and its problem; of very many, the first ones."""
    found = list(problems)
    # Otherwise a body full of mistakes would get a response many times its size.
    listed = [(field[:_MAX_NAME], problem) for field, problem in found[:_MAX_PROBLEMS]]
    more = [f"And {len(found) - len(listed)} more."] if len(found) > len(listed) else []
    message = " ".join([*(f"{field}: {problem}." if field else f"{problem}." for field, problem in listed), *more])
    return InvalidRequest(message, fields=[{"field": field, "problem": problem} for field, problem in listed])


def _from_werkzeug(error: HTTPException) -> Response:
    response = _plain(error.code or 500, error.description or error.name)
    for name, value in error.get_headers():
        if name in {"Allow", "Retry-After", "Location"}:
            response.headers[name] = value
    if error.code is not None and 300 <= error.code < 400:
        return cast(Response, error.get_response())
    return response


def _plain(status: int, description: str) -> Response:
    code, message = _MESSAGES.get(status, ("http_" + str(status), description))
    return error_response(GatehouseError(message, code=code), status)


def _database_failed(error: Exception) -> Response:
    """Runs the request again where somebody was quicker, as nothing of it was committed; else says what is wrong."""
    for _ in range(MAX_REPEATS):
        if failure_of(error) is not Failure.CONFLICT or COMMITS.get() != g.get("commits_before"):
            break
        LOG.info("repeated", problem=type(error).__name__, request_id=request_id())
        try:
            return current_app.make_response(current_app.dispatch_request())
        except DBAPIError as again:
            error = again
        except Exception as refused:
            return current_app.make_response(current_app.handle_user_exception(refused))
    return database_refusal(error)


def database_refusal(error: Exception) -> Response:
    """The response to a request that failed in the database."""
    failure = failure_of(error)
    if failure is Failure.OURS or isinstance(error, IntegrityError):
        return _unexpected(error)
    LOG.error(f"database_{failure.name.lower()}", problem=type(error).__name__, request_id=request_id())
    return error_response(refusal(failure))


def _unstorable(_error: Exception) -> Response:
    return error_response(InvalidRequest("This request contains a text or number that cannot be stored."))


def _unexpected(error: Exception) -> Response:
    LOG.error("unexpected", request_id=request_id(), exc_info=error)
    return error_response(GatehouseError())
