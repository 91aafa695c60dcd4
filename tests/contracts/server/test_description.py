"""The description of the API: complete enough to generate a client, and true."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sync_server.plumbing.api.description import GROUPS, PROBLEM, operations
from tests.app_server import ApiClient, AppServer
from tests.builders import a_gate, a_venue, an_event

Spec = dict[str, Any]


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """The description is the same on every database; that answers fit it there, too, see test_described_answers.py."""
    made = AppServer(sqlite_url, tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def spec(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Spec:
    folder = tmp_path_factory.mktemp("described")
    shutil.copyfile(migrated_sqlite, folder / "gatehouse.db")
    made = AppServer(f"sqlite:///{folder / 'gatehouse.db'}", folder)
    described = made.app.test_client().get("/openapi.json").json
    made.close()
    assert described is not None
    return dict(described)


def test_every_operation_has_a_name_and_says_who_may_call_it_and_how_it_fails(spec: Spec) -> None:
    names = [operation["operationId"] for _, _, operation in operations(spec)]
    assert len(names) == len(set(names)) and all(re.fullmatch("[a-z_]+", name) for name in names)
    for path, _, operation in operations(spec):
        assert operation["summary"] and operation["responses"]["default"], path
        assert {name for one in operation["security"] for name in one} <= set(spec["components"]["securitySchemes"])
        assert not operation["security"] or {"401", "403"} <= set(operation["responses"]), path
        (tag,) = operation["tags"]
        assert sum(tag in tags for tags in GROUPS.values()) == 1, f"put the tag {tag} into a group"


def test_what_is_public_is_described_as_public_and_nothing_else(spec: Spec, app_server: AppServer) -> None:
    """By asking each without any credentials."""
    client = app_server.app.test_client()
    for path, method, operation in operations(spec):
        addresses = {re.sub(r"{[^}]*}", value, path) for value in ("nothing", "1")}  # some parts are numbers
        body = None if method == "get" else {}
        statuses = {client.open(address, method=method.upper(), json=body).status_code for address in addresses}
        seen_by_all = method == "get" and path in {"/api/events", "/api/events/{event_id}"}
        public = not operation["security"] or seen_by_all
        assert (401 not in statuses) == public, f"{method} {path}: {statuses}"


def test_one_schema_stands_for_one_thing_and_all_are_used(spec: Spec) -> None:
    text = str(spec)
    names = set(spec["components"]["schemas"])
    assert all("." not in name for name in names)
    assert [name for name in names if f"'#/components/schemas/{name}'" not in text] == []


def test_every_list_says_what_comes_next(spec: Spec) -> None:
    lists = [
        (path, described["properties"])
        for path, method, operation in operations(spec)
        if method == "get" and (described := _shown(spec, operation)).get("properties", {}).get("items")
    ]
    assert len(lists) > 50
    assert [path for path, properties in lists if "next" not in properties] == []


def _shown(spec: Spec, operation: dict[str, Any]) -> dict[str, Any]:
    schema = operation["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("schema", {})
    return dict(spec["components"]["schemas"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema)


def test_examples_fit_their_schemas(spec: Spec) -> None:
    for path, method, operation in operations(spec):
        wholes = [operation.get("requestBody", {}), *operation["responses"].values()]
        for content in (one for whole in wholes for one in whole.get("content", {}).values()):
            validator = Draft202012Validator({**content["schema"], "components": spec["components"]})
            problems = [error.message for error in validator.iter_errors(content["example"])]
            assert problems == [], f"{method} {path}"


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (("GET", "/api/venues/nothing", None), 404),
        (("POST", "/api/venues", {"name": ""}), 400),
        (("GET", "/api/nowhere", None), 404),
    ],
)
def test_problems_are_as_described(api: ApiClient, spec: Spec, asked: tuple[str, str, Any], status: int) -> None:
    response = api.ask(*asked)
    assert (response.status_code, response.mimetype) == (status, PROBLEM) and response.json is not None
    schema = {"$ref": "#/components/schemas/Error", "components": spec["components"]}
    assert list(Draft202012Validator(schema).iter_errors(response.json)) == []
    assert response.json["detail"] == response.json["error"]["message"] and response.json["status"] == status


def test_whoever_is_not_signed_in_learns_how(app_server: AppServer) -> None:
    response = app_server.app.test_client().get("/api/venues")
    assert (response.status_code, response.headers["WWW-Authenticate"]) == (401, 'Bearer realm="gatehouse"')


def test_what_was_made_says_where_it_is(api: ApiClient) -> None:
    made = api.ask("POST", "/api/venues", a_venue())
    assert made.json is not None and made.headers["Location"] == f"/api/venues/{made.json['id']}"
    assert api.get(made.headers["Location"]) == made.json
    event = api.ask("POST", "/api/v1/events", an_event(made.json["id"]))
    assert event.json is not None and event.headers["Location"] == f"/api/events/{event.json['id']}"
    gate = api.ask("POST", f"/api/venues/{made.json['id']}/gates", a_gate())
    assert gate.status_code == 201 and "Location" not in gate.headers, "it has no address of its own"


def test_the_version_may_stand_in_the_address(api: ApiClient) -> None:
    venue = api.post("/api/v1/venues", a_venue())
    assert api.get(f"/api/v1/venues/{venue['id']}") == api.get(f"/api/venues/{venue['id']}") == venue
    assert api.refused("GET", "/api/v2/venues") == (404, "not_found")


def test_a_program_whose_token_is_wrong_is_not_taken_for_a_visitor(app_server: AppServer, api: ApiClient) -> None:
    client = app_server.app.test_client()
    visitor = client.get("/api/events")
    assert visitor.json is not None and visitor.json["audience"] == "public"
    assert api.get("/api/events")["audience"] == "organisation"
    assert client.get("/api/events", headers={"Authorization": "Bearer ght_forgotten"}).status_code == 401


def test_every_answer_has_a_schema(spec: Spec) -> None:
    """204 and redirects have no body; pictures, files and streams are described by their types."""
    untyped = [
        f"{method} {path} {status}"
        for path, method, operation in operations(spec)
        for status, answer in operation["responses"].items()
        if status.startswith("2") and status != "204"
        if not answer.get("content") or not all(one.get("schema") for one in answer["content"].values())
    ]
    assert untyped == []
