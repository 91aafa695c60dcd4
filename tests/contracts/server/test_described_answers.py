"""Every operation answers what its description says: whoever asks, and whatever is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from jsonschema import Draft202012Validator
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from werkzeug.test import TestResponse

from sync_server.plumbing.api.description import operations
from tests.app_server import ApiClient, AppServer
from tests.contracts.server.test_roles import Organisation, Route, routes, signed_in

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)
EXAMPLES = max(1, settings().max_examples // 33)
"""Of each operation; `--hypothesis-profile=thorough` tries twenty times as many."""
WITHOUT_CREDENTIALS = {"generation": {"with-security-parameters": False}}
"""Those that are made up are refused, and nothing else is learnt."""


@pytest.fixture
def tenant(app_server: AppServer) -> Organisation:
    return Organisation(app_server)


def clients(tenant: Organisation) -> dict[str, ApiClient]:
    """An owner, staff and nobody."""
    stranger = ApiClient(tenant.app_server.app.test_client(), {})
    return {"owner": signed_in(tenant, "owner"), "staff": signed_in(tenant, "staff"), "nobody": stranger}


class Description:
    """What the description says about answers."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._components = spec["components"]
        self._answers = {(method, path): one["responses"] for path, method, one in operations(dict(spec))}

    def knows(self, route: Route) -> bool:
        return self._of(route) is not None

    def _of(self, route: Route) -> dict[str, Any] | None:
        path = re.sub(r"<(?:[^:<>]+:)?([^<>]+)>", r"{\1}", route.rule.rule)
        return self._answers.get((route.method.lower(), path))

    def problem(self, route: Route, response: TestResponse) -> str:
        """How the answer differs from what is said; empty where it does not."""
        answers = self._of(route) or {}
        answer = answers.get(str(response.status_code), answers["default"])
        if "$ref" in answer:
            answer = self._components["responses"][answer["$ref"].rpartition("/")[2]]
        if response.status_code in {204, 304, 307}:
            return ""
        content = {name.partition(";")[0]: one for name, one in answer.get("content", {}).items()}
        if response.mimetype not in content:
            return f"{response.status_code} {response.mimetype} instead of {[*content]}"
        if not response.is_json:
            return ""
        validator = Draft202012Validator({**content[response.mimetype]["schema"], "components": self._components})
        return "; ".join(f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(response.json))


@pytest.mark.parametrize("who", ["owner", "staff", "nobody"])
def test_valid_requests_are_answered_as_described(tenant: Organisation, who: str) -> None:
    client, described = clients(tenant)[who], Description(tenant.api.get("/openapi.json"))
    asked, problems = 0, []
    for route in routes(tenant.app_server):
        if described.knows(route) and not route.rule.rule.endswith("/live"):
            response = tenant.ask(client, route)
            asked += 1
            if problem := described.problem(route, response):
                problems.append(f"{route}: {problem}")
    assert asked > 200
    assert problems == []


def test_generated_requests_are_answered_as_described(tenant: Organisation) -> None:
    tenant.api.post(f"/api/events/{tenant.ids['event_id']}/publish", {}, 200)
    asking = clients(tenant)
    api_schema = schemathesis.openapi.from_wsgi(
        "/openapi.json", tenant.app_server.app, config=schemathesis.Config.from_dict(WITHOUT_CREDENTIALS)
    )
    problems = list[str]()
    for operation in api_schema.exclude(path_regex="live$|archive$|/session").get_all_operations():
        problems += _problems(operation.ok(), tenant, asking)
    assert not problems, "\n".join(problems)


def _problems(operation: Any, tenant: Organisation, asking: Mapping[str, ApiClient]) -> list[str]:
    problems = list[str]()

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy())
    def ask(case: Any) -> None:
        for name in tenant.ids.keys() & (case.path_parameters or {}).keys():
            case.path_parameters[name] = tenant.ids[name]
        for who, client in asking.items():
            response = case.call(headers=client.headers, cookies=_cookies(client))
            try:
                case.validate_response(response, checks=CHECKS)
            except FailureGroup as failed:
                found = [str(one)[:300] for one in failed.exceptions]
                problems.append(f"{who}: {case.method} {case.path} {case.body!r:.200}: {found}")

    ask()
    return problems


def _cookies(client: ApiClient) -> dict[str, str]:
    return {cookie.key: cookie.value for cookie in client.client._cookies.values()}
