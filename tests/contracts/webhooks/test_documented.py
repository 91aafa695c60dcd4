"""docs/webhooks.md is true: its code verifies real messages, and its tables and figures are those of the program."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from sync_server.outbox.catalogue import FACTS
from sync_server.outbox.fact_schemas import INSIDE
from sync_server.webhooks import posting, rules
from sync_server.webhooks.sender import LANES, SLOW_LANES
from tests.app_server import AppServer
from tests.contracts.webhooks.conftest import MakeServer, a_webhook, run
from tests.services.webhook_receiver import Arrived, Receiver

PAGE = (Path(__file__).parents[3] / "docs" / "webhooks.md").read_text("utf-8")


def code(language: str) -> str:
    """The one block of code in this language."""
    (block,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(block)


@pytest.fixture
def sent(make_server: MakeServer, receiver: Receiver) -> tuple[str, Arrived]:
    """A secret, and a message signed with it and with another one, dated now: the examples look at the clock."""
    app_server: AppServer = make_server()
    app_server.now = int(time.time() * 1000)
    api = app_server.api(app_server.organisation("marquee"))
    hook = a_webhook(api, receiver)
    api.post(f"/api/webhooks/{hook['id']}/secret", {})
    api.post(f"/api/webhooks/{hook['id']}/test")
    run(app_server)
    return hook["secret"], receiver.arrived[0]


def cases(secret: str, arrived: Arrived) -> list[tuple[bool, str, dict[str, str], bytes]]:
    """Whether it is genuine, with secret, headers and body."""
    headers = {name: value for name, value in arrived.headers.items() if name.startswith("webhook-")}
    other = "whsec_" + "A" * 43 + "="
    old = headers | {"webhook-timestamp": str(int(headers["webhook-timestamp"]) - 301)}
    return [
        (True, secret, headers, arrived.body),
        (False, other, headers, arrived.body),
        (False, secret, headers, arrived.body.replace(b"webhook_tested", b"webhook_forged")),
        (False, secret, headers | {"webhook-id": "another"}, arrived.body),
        (False, secret, headers | {"webhook-timestamp": "soon"}, arrived.body),
        (False, secret, headers | {"webhook-signature": "v1,"}, arrived.body),
        (False, secret, old, arrived.body),
    ]


def test_the_python_example_verifies_what_is_sent(sent: tuple[str, Arrived]) -> None:
    namespace: dict[str, Any] = {}
    exec(code("python"), namespace)  # noqa: S102 - our own documentation
    for genuine, secret, headers, body in cases(*sent):
        assert namespace["verified"](secret, headers, body) is genuine, headers


def test_the_node_example_verifies_what_is_sent(sent: tuple[str, Arrived]) -> None:
    asked = [[secret, headers, body.decode()] for _, secret, headers, body in cases(*sent)]
    script = f"""{code("js")}
const asked = JSON.parse(require("node:fs").readFileSync(0));
console.log(JSON.stringify(asked.map(([secret, headers, body]) => verified(secret, headers, Buffer.from(body)))));"""
    done = subprocess.run(
        ["node", "-e", script], input=json.dumps(asked), capture_output=True, text=True, check=True, timeout=60
    )
    assert json.loads(done.stdout) == [genuine for genuine, *_ in cases(*sent)]


def test_the_example_of_a_body_is_a_message() -> None:
    example = json.loads(code("json"))
    assert example["fact"] in FACTS
    assert set(example) == {"fact", "version", "message_id", "organisation_id", "at", "order", "subjects", "payload"}


def test_tables_lists_and_figures_are_those_of_the_program() -> None:
    problems = re.findall(r"^\| `([a-z_]+)` \|", PAGE, re.MULTILINE)
    assert sorted(problems) == sorted(rules.Problem)
    for name in INSIDE:
        assert f"`{name}`" in PAGE
    for group in rules.groups():
        assert f"`{group.removesuffix('.*')}`" in PAGE
    seconds, minutes, half_hour, *hours = (pause // 1000 for pause in rules.PAUSES)
    listed = ", ".join(str(each // 3600) for each in hours[:-1]) + f" and {hours[-1] // 3600} hours"
    assert f"after {seconds} seconds, {minutes // 60} minutes, {half_hour // 60} minutes, then {listed}" in PAGE
    assert f"at most {rules.MAX_WEBHOOKS} webhooks" in PAGE and f"kept for {rules.KEEP_MS // rules.DAY} days" in PAGE
    assert f"to {LANES} addresses at once" in PAGE and f"to {SLOW_LANES} that fail" in PAGE
    assert f"first {posting.ANSWER_BYTES:,} bytes" in PAGE
    assert rules.PAUSED_AFTER_MS == 5 * rules.DAY and "five days without any success" in PAGE
    assert rules.MAX_ATTEMPTS == 10 and "After ten attempts" in PAGE
    assert rules.lease_ms(10) < 20_000 and "ten seconds more than `webhook_seconds`" in PAGE
