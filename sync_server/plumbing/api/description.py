"""Completes the OpenAPI description: what each operation is called, who may call it, and how it fails."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from flask import Flask

from sync_server.plumbing.api.examples import body_example, example

Spec = dict[str, Any]
Security = Sequence[dict[str, list[str]]]
METHODS: Final = ("get", "post", "put", "patch", "delete")
REF: Final = "#/components/schemas/"
PROBLEM: Final = "application/problem+json"
STAFF: Final[Security] = ({"token": []}, {"session": [], "csrf": []})
GUEST: Final[Security] = ({"guest": [], "csrf": []},)
CUSTOMER: Final[Security] = ({"customer": [], "csrf": []},)
NOBODY: Final[Security] = ()

SECURITY_SCHEMES: Final = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API token of an organisation, which begins with `ght_`.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "gatehouse_session",
        "description": "The session of a member of staff, from POST /api/session.",
    },
    "guest": {
        "type": "apiKey",
        "in": "cookie",
        "name": "gatehouse_guest",
        "description": "The session of a guest of a shop, from POST /api/o/{slug}/session; one for each organisation.",
    },
    "customer": {
        "type": "apiKey",
        "in": "cookie",
        "name": "gatehouse_customer",
        "description": "The session of a customer, from POST /api/o/{slug}/account/session/link; one for each shop.",
    },
    "csrf": {
        "type": "apiKey",
        "in": "header",
        "name": "X-CSRF-Token",
        "description": "The token of the session, on every request that changes something.",
    },
}
ERROR: Final = {
    "type": "object",
    "title": "Error",
    "description": "A problem by RFC 9457; `error` has the same for programs that know this API.",
    "required": ["type", "title", "status", "detail", "error"],
    "properties": {
        "type": {"type": "string", "examples": ["urn:gatehouse:error:slug_taken"]},
        "title": {"type": "string", "examples": ["Conflict"]},
        "status": {"type": "integer", "examples": [409]},
        "detail": {"type": "string", "description": "What happened and what to do, for people."},
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "string", "description": "For programs; it does not change."},
                "message": {"type": "string", "description": "For people."},
                "request_id": {"type": "string", "description": "Finds the request in the server's log."},
                "details": {"type": "object", "additionalProperties": True},
            },
        },
    },
}
_FRAMEWORKS_OWN: Final = {"HTTPError", "ValidationError"}
_ERRORS: Final = {
    "400": "The request is incomplete or impossible",
    "401": "Not signed in, or with unknown credentials",
    "403": "Signed in, but not allowed",
    "404": "Missing, or another organisation's",
    "409": "Not possible in the current state",
    "412": "Somebody else has changed it since",
    "429": "Too many requests in a short time",
    "default": "Any other problem: the server is busy, or its database is away",
}
_IF_MATCH: Final = {
    "name": "If-Match",
    "in": "header",
    "schema": {"type": "string"},
    "description": "The etag that you have seen: the change is refused if somebody else has made another since.",
}
_IDEMPOTENCY_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "minLength": 1, "maxLength": 120},
    "description": "Anything unique. A request that is repeated with it runs once, and gets the first response again.",
}
GROUPS: Final[Mapping[str, Mapping[str, str]]] = {
    "Setting up": {
        "Organisation": "Its name and the language of its mails.",
        "Accounts": "Signing in, members, tokens, supervisors.",
        "Invitations": "Members join by a one-time link.",
        "Own login": "Password, sessions and one-time passwords of whoever signs in.",
        "Passkeys": "Signing in without a password.",
        "What staff may do": "The organisation's policy for its staff.",
        "Venues": "Places with their entrances.",
        "Seating": "Layouts of a venue, in versions, and the seating policy.",
        "Devices": "Gates: their enrolment, assignments and state.",
        "Keys": "The keys that sign tickets.",
    },
    "Events": {
        "Events": "Events from draft to archive, their zones and entrances.",
        "Venue and replacement of events": "Another venue for an event, or another event instead of it.",
        "Series of events": "Copies of an event on other dates.",
        "Covers": "Pictures of an event.",
        "Seats of events": "The layout that an event uses, and the best seats left.",
    },
    "Selling": {
        "Queue": "Who may buy next, in an order that everybody can recompute.",
        "Holds": "Seats and places kept for a guest for some minutes.",
        "Guests": "Sessions of a shop's guests.",
        "Waiting list": "Parties that wait for places of a sold-out event, and what they are offered.",
        "Customers": "Buyers who sign in at a shop, and their logins.",
        "Checkout": "Who may order and pay now: so many at once of an event, each for ten minutes.",
        "Payments": "Statements of the bank, and what payment services tell of payments.",
        "Codes": "Discounts and presales, and the ticket types that a shop sells.",
        "Buying": "Orders in the shop: made of holds, paid, opened by their link.",
        "Orders": "Orders as organisers and the box office see them: payments, refunds, the ledger.",
        "Calling off": "What buyers of a cancelled event get: refunds, another date, or neither.",
        "Tickets": "Ticket types and tickets.",
        "Exports": "Tables of an event as CSV or for spreadsheets.",
        "Mails to buyers": "What buyers are written, and how many of them.",
        "Memberships": "Cards that open zones and lower prices.",
        "Guest lists": "Who may sit in a zone by invitation.",
        "Moving guests": "Guests move to another layout of the same event.",
    },
    "For everybody": {
        "Listings": "Published events of all organisations.",
        "Pictures": "Pictures by their id.",
        "Seat maps": "Seats and what is free, and how it changes.",
        "Seat maps for everybody": "The same for shared caches: no cookie is read.",
    },
    "At the door": {
        "Scans": "What gates have recorded, conflicts and journals.",
        "Live": "Changes as they happen.",
        "Reports": "How many came how far, from the queue to the door.",
        "Alerts": "What needs attention.",
        "Seating metrics": "How well an event is seated.",
    },
    "Records": {
        "Audit": "Who did what, when and why.",
        "Archives": "Events that are over, put away as sealed files.",
        "People": "What is stored about a person, exported and erased.",
        "Facts": "Facts that could not be delivered.",
        "Webhooks": "Addresses that get the organisation's facts, and the log of deliveries.",
    },
}
"""The tags in the order in which they are read."""


def complete(
    spec: Spec, app: Flask, security: Mapping[str, Security], for_visitors: Mapping[str, str] = MappingProxyType({})
) -> Spec:
    """The description with all that the framework cannot know.

    `security` by endpoint, staff where it names none; `for_visitors` names endpoints that answer visitors as others do.
    """
    _merge_schemas(spec)
    components = spec["components"]
    components["schemas"] = {name: one for name, one in components["schemas"].items() if name not in _FRAMEWORKS_OWN}
    components["schemas"]["Error"] = ERROR
    endpoints = {(method, path): name for method, path, name in _endpoints(app)}
    by_endpoint = {endpoints[method, path]: operation for path, method, operation in operations(spec)}
    for own, theirs in for_visitors.items():
        _add_alternative(by_endpoint[own], by_endpoint[theirs])
    for path, method, operation in operations(spec):
        endpoint = endpoints[method, path]
        operation["operationId"] = endpoint.replace(".", "_")
        operation["security"] = list(security.get(endpoint, STAFF))
        _share_content(operation["responses"])
        _add_headers(operation, method, app.view_functions[endpoint])
        _add_errors(operation, method, path)
        _add_examples(operation, spec["components"]["schemas"])
    components["securitySchemes"] = SECURITY_SCHEMES
    components["responses"] = {_response_name(status): _error(text) for status, text in _ERRORS.items()}
    spec["tags"] = [{"name": tag, "description": text} for tags in GROUPS.values() for tag, text in tags.items()]
    spec["x-tagGroups"] = [{"name": name, "tags": list(tags)} for name, tags in GROUPS.items()]
    return spec


def operations(spec: Spec) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Path, method and description of each operation."""
    for path, item in spec["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def _endpoints(app: Flask) -> Iterator[tuple[str, str, str]]:
    for rule in app.url_map.iter_rules():
        path = re.sub(r"<(?:[^:<>]+:)?([^<>]+)>", r"{\1}", rule.rule)
        for method in rule.methods or ():
            yield method.lower(), path, rule.endpoint


def _merge_schemas(spec: Spec) -> None:
    """One schema for one thing: the framework repeats parts under the name of each whole, as `Whole.Part`."""
    names = _merged_names(spec["components"]["schemas"])
    text = re.sub(rf'"{REF}([^"]+)"', lambda found: f'"{REF}{names[found[1]]}"', json.dumps(spec))
    merged = json.loads(text)
    parts = merged["components"]["schemas"]
    merged["components"]["schemas"] = {names[name]: one | {"title": names[name]} for name, one in parts.items()}
    spec.clear()
    spec.update(merged)


def _merged_names(schemas: Mapping[str, Any]) -> dict[str, str]:
    """The new name of each: that of the part where all are alike, else that of the first whole before it."""
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, schema in sorted(schemas.items(), key=lambda one: ("." in one[0], one[0])):
        shape = re.sub(rf'"{REF}[^"]*?([^".]+)"', r'"\1"', json.dumps(schema, sort_keys=True))
        alike[_part(name), shape].append(name)
    taken: set[str] = set()
    names: dict[str, str] = {}
    for (part, _), members in alike.items():
        chosen = members[0].replace(".", "") if part in taken else part
        taken.add(chosen)
        names |= dict.fromkeys(members, chosen)
    return names


def _part(name: str) -> str:
    return name.rpartition(".")[2]


def _share_content(responses: dict[str, Any]) -> None:
    """What was made before is shown like what is made now: 200 has the schema of 201, which alone can be declared."""
    if "200" in responses and "content" in responses.get("201", {}):
        responses["200"]["content"] = responses["201"]["content"]


def _add_alternative(operation: dict[str, Any], other: dict[str, Any]) -> None:
    """An answer that is either that of this operation or that of the other."""
    own, theirs = (one["responses"]["200"]["content"]["application/json"] for one in (operation, other))
    own["schema"] = {"anyOf": [own["schema"], theirs["schema"]]}


def _add_headers(operation: dict[str, Any], method: str, view: Callable[..., Any]) -> None:
    heeded = [_IF_MATCH] if method in {"patch", "put"} else []
    heeded += [_IDEMPOTENCY_KEY] if "repeatable" in view.__dict__ else []
    if heeded:
        operation.setdefault("parameters", []).extend(heeded)


def _add_errors(operation: dict[str, Any], method: str, path: str) -> None:
    responses = operation["responses"]
    for status in (one for one in responses if one >= "400"):
        responses[status] = _error(responses[status]["description"])
    wanted = {"default", "429"}
    wanted |= {"400"} if "requestBody" in operation or operation.get("parameters") else set()
    wanted |= {"401", "403"} if operation["security"] else set()
    wanted |= {"404"} if "{" in path else set()
    wanted |= {"409"} if method != "get" else set()
    wanted |= {"412"} if method in {"patch", "put"} else set()
    for status in sorted(wanted):
        responses[status] = {"$ref": f"#/components/responses/{_response_name(status)}"}
    if "201" in responses:
        responses["201"].setdefault("headers", {})["Location"] = {
            "description": "Where what was made is shown, if it has an address of its own.",
            "schema": {"type": "string"},
        }


def _response_name(status: str) -> str:
    return "Problem" if status == "default" else f"Problem{status}"


def _error(text: str) -> dict[str, Any]:
    return {"description": text, "content": {PROBLEM: {"schema": {"$ref": f"{REF}Error"}}}}


def _add_examples(operation: dict[str, Any], schemas: Mapping[str, Any]) -> None:
    for content in operation.get("requestBody", {}).get("content", {}).values():
        content["example"] = body_example(content["schema"], schemas)
    for response in operation["responses"].values():
        for content in response.get("content", {}).values():
            content["example"] = example(content["schema"], schemas)
