"""/docs: the API as a page, rendered from /openapi.json without scripts."""

from __future__ import annotations

from typing import Any, cast

from apiflask import APIBlueprint
from flask import Response, current_app
from jinja2 import Environment

bp = APIBlueprint("docs", __name__, enable_openapi=False)

_PAGE = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
    """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gatehouse API</title>
<style>
:root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.5 }
body { max-width: 60rem; margin: 0 auto; padding: 1rem }
details { border-top: 1px solid #8886; padding: .4rem 0 } summary { cursor: pointer }
b.method { display: inline-block; min-width: 4.5rem; font-family: monospace }
pre { overflow: auto; background: #8882; padding: .5rem } code { overflow-wrap: anywhere }
</style></head><body>
<h1>Gatehouse API</h1>
<p>{{ spec.info.description }} The machine-readable form is <a href="/openapi.json">/openapi.json</a>.</p>
{% for path, operations in spec.paths.items() %}{% for method, operation in operations.items() %}
{% if operation is mapping %}
<details><summary><b class="method">{{ method | upper }}</b> <code>{{ path }}</code> — {{ operation.summary }}</summary>
<p>{{ operation.description or "" }}</p>
{% for parameter in operation.parameters or () %}
<p><code>{{ parameter.name }}</code> ({{ parameter["in"] }}{{ ", required" if parameter.required }})</p>
{% endfor %}
{% if operation.requestBody %}<p>Body:</p><pre>{{ operation.requestBody.content | body(spec) }}</pre>{% endif %}
</details>
{% endif %}
{% endfor %}{% endfor %}
</body></html>
"""
)


def _body(content: dict[str, Any], spec: dict[str, Any]) -> str:
    schema = next(iter(content.values()))["schema"]
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    resolved: dict[str, Any] = spec["components"]["schemas"].get(name, schema)
    required = set(resolved.get("required", ()))
    fields = resolved.get("properties", {}).items()
    return "\n".join(
        f"{field}{' (required)' if field in required else ''}: {_kind(schema)}" for field, schema in fields
    )


def _kind(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    return str(schema.get("type") or str(schema.get("$ref", "any")).rpartition("/")[2])


_PAGE.environment.filters["body"] = _body


@bp.get("/docs")
def page() -> Response:
    """Show the API as a page."""
    spec = cast(Any, current_app)._get_spec("json")  # APIFlask has no public function for it
    response = Response(_PAGE.render(spec=spec), content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = (
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
    )
    return response
