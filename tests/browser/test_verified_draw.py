"""A published draw is recomputed in the browser, which finds whatever scripts/verify_draw.py finds."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from sync_server.queueing import draw
from tests.app_server import AppServer
from tests.contracts.queueing.rush import OPENING, a_rush
from tests.contracts.queueing.test_draw import downloaded, verified, waited
from tests.served_app import served

VERIFY = """async ([text, receipt]) => {
    const { verify, Wrong } = await import("/static/verify-draw.js");
    try {
        return verify(text, receipt);
    } catch (problem) {
        if (problem instanceof Wrong) return problem.message;
        throw problem;
    }
}"""


@pytest.fixture
def page(app_server: AppServer, browser_page: Page) -> Iterator[Page]:
    """A page of the server, under the policy of every page."""
    with served(app_server) as address:
        browser_page.goto(f"{address}/docs")
        yield browser_page


def found(page: Page, content: bytes, receipt: str | None = None) -> Any:
    """The place of the receipt and the number of entries, or what is wrong."""
    return page.evaluate(VERIFY, [content.decode(), receipt])


def test_a_guest_recomputes_the_draw_and_finds_the_own_place(app_server: AppServer, page: Page) -> None:
    rush = a_rush(app_server)
    guests = waited(rush, 9)
    rush.until(OPENING)
    order = [rush.place(guest)["receipt"] for guest in rush.in_order(guests)]
    assert found(page, downloaded(rush), order[3]) == {"entries": 9, "place": 4}


def test_browser_and_script_find_the_same_in_damaged_files(app_server: AppServer, page: Page, tmp_path: Path) -> None:
    rush = a_rush(app_server)
    waited(rush, 5)
    rush.until(OPENING)
    rush.place(rush.join())
    head, *lines = downloaded(rush).splitlines()
    told = json.loads(head)
    files: list[list[bytes]] = [
        [head, lines[1], lines[0], *lines[2:]],
        [head, *lines[:4], b"00" * 16],
        [head, *lines, lines[0]],
        [head, *lines[:4], lines[4][:30]],
        [json.dumps(told | {"entries": 4}).encode(), *lines],
        [json.dumps(told | {"entries": 4}).encode(), *lines[:4]],
        [json.dumps(told | {"seed": "00" * 32}).encode(), *lines],
        [json.dumps(told | {"beacon": {"source": "drand", "round": "1", "value": "5"}}).encode(), *lines],
        lines,
        [],
    ]
    for parts in files:
        content = b"\n".join(parts) + b"\n"
        status, words = verified(tmp_path, content)
        assert status == 1
        assert f"draw.txt {found(page, content)}.\n" in words
    assert found(page, b"\n".join([head, *lines]), "00" * 16) == "does not have the entry of this receipt"


def test_a_large_draw_is_recomputed_too(page: Page) -> None:
    entries = [os.urandom(16) for _ in range(2_000)]
    seed, root = os.urandom(32), draw.Tree(sorted(entries)).root
    ordered = draw.order(entries, seed, root, "a public round")
    named = {"seed": seed.hex(), "commitment": draw.commitment(seed).hex(), "root": root.hex()}
    head = named | {"beacon": {"value": "a public round"}, "entries": len(entries)}
    content = "\n".join([json.dumps(head), *(entry.hex() for entry in ordered)])
    assert found(page, content.encode(), ordered[-1].hex()) == {"entries": 2_000, "place": 2_000}
