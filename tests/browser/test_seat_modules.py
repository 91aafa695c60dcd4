"""The pure modules of the seat map, run in the browser that runs them for guests: index, view, words, refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.app_server import AppServer
from tests.served_app import served


@pytest.fixture(scope="module")
def modules() -> dict[str, str]:
    """Scripts that return what the modules find."""
    return {
        "grid": """async () => {
          const { SeatGrid } = await import("/static/seat-map/grid.js");
          let seed = 7;
          const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
          const some = (most) => Float32Array.from({ length: 3000 }, () => random() * most);
          const [x, y] = [some(90), some(40)];
          const grid = new SeatGrid(x, y);
          let wrong = 0;
          for (let n = 0; n < 500; n++) {
            const [px, py, reach] = [random() * 100 - 5, random() * 50 - 5, 1 + random() * 4];
            const far = (seat) => Math.hypot(x[seat] - px, y[seat] - py);
            const all = [...x.keys()].filter((seat) => far(seat) <= reach);
            all.sort((one, other) => far(one) - far(other));
            if (grid.nearest(px, py, reach) !== all[0]) wrong++;
            const within = new Set();
            grid.within(px - reach, py - reach, px + reach, py + reach, (seat) => within.add(seat));
            if (!all.every((seat) => within.has(seat))) wrong++;
          }
          return wrong;
        }""",
        "view": """async () => {
          const { Viewport } = await import("/static/seat-map/viewport.js");
          const view = new Viewport({ box: { left: 0, top: 0, width: 200, height: 100 } });
          view.resize(800, 600, 2);
          const whole = view.k;
          view.look({ x: 50, y: 50 }, 20, 300, 200);
          const kept = view.at(300, 200);
          view.zoom(1.5, 300, 200);
          const same = view.at(300, 200);
          view.pan(99999, -99999);
          return { whole, kept, same, corner: view.at(14, 586), dots: [view.ox * 2 % 1, view.oy * 2 % 1] };
        }""",
        "single": """async () => {
          const { leftSingle } = await import("/static/picker/refusals.js");
          const layout = { aisles: new Set([4]), row: () => ({ start: 0, count: 10 }) };
          const left = (chosen, taken = []) => leftSingle(layout, new Set(chosen), (n) => taken.includes(n));
          return [left([1, 2]), left([0, 1]), left([3]), left([6, 7]), left([2, 3], [0]), left([7], [9])];
        }""",
        "explain": """async () => {
          const { explain } = await import("/static/picker/refusals.js");
          const find = (names) => names.map((name) => Number(name.slice(2)));
          const said = (code, details = {}, asked = [1, 2]) => explain({ code, details }, asked, find);
          return [
            said("leaves_single_seat", { instead_seats: ["A-3", "A-4"] }),
            said("seat_not_available", { seats: ["A-2"] }),
            said("seat_held_by_another_user", {}, [5]),
            said("pass_expired"),
            explain({ offline: true }, [1], find),
            said("too_many_seats"),
          ];
        }""",
        "words": """async () => {
          const { clock, Words } = await import("/static/picker/words.js");
          const texts = { left: { one: "noch {n} Platz", other: "noch {n} Plätze" } };
          const words = new Words({ language: "de", currency: "EUR", texts });
          const left = (n) => words.t("left", { n });
          return [clock(300), clock(29.2), clock(-1), clock(3725), left(1), left(1200), words.amount(6550)];
        }""",
    }


@pytest.fixture
def page(app_server: AppServer, browser_page: Page) -> Iterator[Page]:
    """A page of the server, under the policy of every page."""
    with served(app_server) as address:
        browser_page.goto(f"{address}/docs")
        yield browser_page


def test_what_the_modules_find(page: Page, modules: dict[str, str]) -> None:
    found: dict[str, Any] = {name: page.evaluate(script) for name, script in modules.items()}
    assert found["grid"] == 0, "as a look at every seat finds"
    view = found["view"]
    assert round(view["whole"], 2) == 3.86, "two hundred seats in 800 pixels without its margins"
    assert view["kept"] == view["same"] == {"x": 50, "y": 50}, "what is under the pointer stays there"
    assert (round(view["corner"]["x"], 3), round(view["corner"]["y"], 3)) == (0, 100), "panning ends at the corner"
    assert view["dots"] == [0, 0], "whole pixels of the screen"
    assert found["single"] == [[0], [], [4], [5], [1, 4], [8]], "alone between walls, aisles, taken and chosen seats"
    assert [each["kind"] for each in found["explain"]] == ["swap", "gone", "gone", "queue", "offline", "told"]
    assert [each["seats"] for each in found["explain"][:3]] == [[1, 2], [2], [5]]
    assert found["explain"][0]["instead"] == [3, 4]
    assert found["words"] == ["5:00", "0:30", "0:00", "1:02:05", "noch 1 Platz", "noch 1.200 Plätze", "65,50\xa0€"]
