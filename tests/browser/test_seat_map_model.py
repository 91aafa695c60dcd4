"""The editor's model of a seat map, without its page: what it reads it writes, and how it numbers,
bends and undoes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import orjson
import pytest
from playwright.sync_api import Browser, Page

from sync_server.admin.page import TEXTS
from sync_server.admin.seat_map_pages import SCRIPT_TEXTS
from sync_server.commands import demo_venue
from sync_server.plumbing.language.texts import translator
from sync_server.seating.file_formats import csv_plans, pretix_plans, svg_plans
from sync_server.seating.layouts.columns import Seat, columns_of
from sync_server.seating.layouts.plan import LayoutPlan
from sync_server.seating.layouts.validation import check
from sync_server.seating.schemas import LayoutShape, layout_json
from tests.app_server import AppServer
from tests.contracts.seating.stage import a_layout, floor, stalls, with_wheelchairs
from tests.served_app import served
from tests.unit.sync_server.seating.test_files import a_pretix_plan, a_pretix_seat

MODULES: Final = ("seat-map", "commands", "editing", "numbering", "geometry", "findings", "rows")
SETUP: Final = """async ([names, texts]) => {
  const root = Object.assign(document.createElement("div"), { id: "seat-map" });
  root.dataset.texts = JSON.stringify({ language: "en", texts });
  document.body.append(root); // as the page of the editor hands them over
  for (const name of names) Object.assign(window, await import(`/static/editor/${name}.js`));
  Object.assign(window, { editing: await import("/static/editor/editing.js"),
            ...await import("/static/seat-map/grid.js") });
}"""


@pytest.fixture(scope="module")
def model(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A page that has loaded the editor's modules, and nothing else of it."""
    folder = tmp_path_factory.mktemp("model")
    app_server = AppServer(f"sqlite:///{folder / 'model.sqlite'}", folder)
    with served(app_server) as address:
        page = browser.new_page()
        page.goto(f"{address}/admin/login")
        texts = translator(TEXTS, "en").for_script(SCRIPT_TEXTS)
        page.evaluate(SETUP, [list(MODULES), texts])
        yield page
        page.close()
    app_server.close()


def shaped(layout: dict[str, Any]) -> dict[str, Any]:
    """A layout as the API returns it."""
    return layout_json(check(LayoutShape.model_validate(layout).plan()))


def stored(layout: dict[str, Any]) -> dict[str, Any]:
    """The same with its seats as columns, as the editor loads it."""
    seats = (
        Seat(
            zone=at,
            x=(seat["coordinates"] or {}).get("x"),
            y=(seat["coordinates"] or {}).get("y"),
            **{name: seat[name] for name in Seat._fields if name not in {"zone", "x", "y"}},
        )
        for at, zone in enumerate(layout["zones"])
        for seat in zone["seats"]
    )
    names = [zone["name"] for zone in layout["zones"]]
    columns = columns_of(names, seats, [group["seat_ids"] for group in layout["groups"]])
    zones = [zone | {"seats": []} for zone in layout["zones"]]
    found: dict[str, Any] = orjson.loads(orjson.dumps({"layout": layout | {"zones": zones}, "seats": columns}))
    return found


def pretix() -> LayoutPlan:
    return check(pretix_plans.read(orjson.dumps(a_pretix_plan(a_pretix_seat(1), a_pretix_seat(2)))))


def everything() -> dict[str, Any]:
    """A layout with whatever a layout can have."""
    zone = with_wheelchairs()["zones"][0]
    zone |= {
        "focus": {"x": 3.25, "y": -2},
        "metadata": {"rows": 2},
        "access_mode": "membership_tier",
        "membership_tier": "friends",
    }
    zone["seats"][5] |= {
        "category": "restricted_view",
        "aisle_after": True,
        "price_category": "Side",
        "section": "Left",
    }
    zone["seats"][9] |= {"coordinates": None}
    groups = [
        {"group_type": "vip_table", "seat_ids": ["B-3", "B-4"], "metadata": {"name": "Table 1"}, "sold_whole": True}
    ]
    drawing = {
        "size": {"width": 9, "height": 9},
        "categories": [{"name": "Side", "color": "#f00"}],
        "areas": [],
        "more": [1, {"a": None}],
        "outlines": {"Floor": [[0, 0], [4, 0], [4, 4]], "Nowhere": [[1, 1]]},
        "patterns": {"Side": "dots"},
    }
    roles = floor(name="Backstage", access_mode="role_based", allowed_roles=["staff"])
    return a_layout(
        zones=[zone, floor(), roles],
        groups=groups,
        drawing=drawing,
        focus={"x": 1.5, "y": -9.125},
        description="All of it",
    )


SAMPLES: Final = {
    "the demo venue": lambda: layout_json(demo_venue.plan()),
    "two rows": lambda: shaped(a_layout()),
    "wheelchair places": lambda: shaped(with_wheelchairs()),
    "no positions": lambda: shaped(a_layout(zones=[stalls(seats=[{"row": "A", "number": n} for n in range(1, 4)])])),
    "everything": lambda: shaped(everything()),
    "a file of pretix": lambda: layout_json(pretix()),
    "a CSV file": lambda: layout_json(check(csv_plans.read(csv_plans.write(demo_venue.plan()), "Hall"))),
    "an SVG file": lambda: layout_json(check(svg_plans.read(svg_plans.write(demo_venue.plan()), "Hall"))),
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("published", [False, True])
def test_what_is_read_is_written_unchanged(model: Page, name: str, published: bool) -> None:
    layout = SAMPLES[name]()
    written = model.evaluate(
        "([layout, published]) => write(read(layout, published)).layout", [stored(layout), published]
    )
    assert written == layout


def test_every_step_is_taken_back_and_done_again(model: Page) -> None:
    """A hundred random steps back lead to the first map, and forward again to the last one."""
    found = model.evaluate(
        """(layout) => {
          let seed = 7;
          const random = (below) => (seed = (seed * 16807) % 2147483647) % below;
          const map = read(layout), history = new History(map);
          const state = () => JSON.stringify(write(map).layout);
          const seats = () => [...map.seats()].filter(() => random(4) === 0).concat([...map.seats()].slice(0, 2));
          const steps = [
            () => editing.move(map, seats(), random(9), random(9)),
            () => editing.remove(map, [...map.seats()].slice(0, 1)),
            () => editing.paste(map, editing.copied(map, seats().slice(0, 6)), { dx: 40, dy: 3 }),
            () => editing.renumberSeats(map, seats(), { start: "A", count: "odd" }),
            () => editing.setKind(map, seats().slice(0, 1), "wheelchair"),
            () => editing.addGroup(map, seats(), "family_block", "Family", false),
            () => editing.bend(map, seats(), random(90)),
            () => editing.setTexts(map, seats(), "price", `Price ${random(3)}`),
            () => editing.addTable(map, { zone: 0, seats: 6, at: { x: 9, y: 9 }, name: `T${random(999)}` }),
            () => editing.setStage(map, { x: 1, y: 2, width: 30, height: 10 }),
            () => editing.changeZone(map, 0, { name: `Zone ${random(9)}` }),
          ];
          const first = state();
          for (let n = 0; n < 100; n++) history.run(`${n}`, steps[random(steps.length)]());
          const last = state();
          const plain = JSON.stringify(history.done.map((step) => step.back)) !== undefined;
          while (history.undo());
          const back = state();
          while (history.redo());
          return { back: back === first, again: state() === last, changed: first !== last, plain };
        }""",
        stored(SAMPLES["wheelchair places"]()),
    )
    assert found == {"back": True, "again": True, "changed": True, "plain": True}


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ({}, ["1", "2", "3", "4", "5"]),
        ({"start": "101", "backwards": True}, ["105", "104", "103", "102", "101"]),
        ({"count": "odd"}, ["1", "3", "5", "7", "9"]),
        ({"count": "even"}, ["2", "4", "6", "8", "10"]),
        ({"count": "middle"}, ["5", "3", "1", "2", "4"]),
        ({"start": "H"}, ["H", "J", "K", "L", "M"]),
        ({"start": "H", "without": ""}, ["H", "I", "J", "K", "L"]),
        ({"start": "Y"}, ["Y", "Z", "AA", "AB", "AC"]),
    ],
)
def test_numbering(model: Page, scheme: dict[str, Any], expected: list[str]) -> None:
    assert model.evaluate("(scheme) => labels(5, scheme)", scheme) == expected


def test_numbering_that_cannot_begin_is_refused_in_words(model: Page) -> None:
    told = model.evaluate("() => { try { labels(3, { start: 'I' }); } catch (problem) { return problem.message; } }")
    assert told.startswith('Numbering cannot start with "I".')


def test_seats_keep_their_distance_however_rows_are_bent(model: Page) -> None:
    steps = model.evaluate(
        """() => {
          const straight = block({ rows: 1, seats: 9, spacing: 25 })[0];
          const round = bent(straight, 90, { x: 0, y: -500 });
          const apart = round.slice(1).map((seat, n) => Math.hypot(seat.x - round[n].x, seat.y - round[n].y));
          return { apart, curve: curveOf(round, { x: 0, y: -500 }), ends: round[0].y < round[4].y,
            straight: curveOf(bent(round, 0, { x: 0, y: -500 }), null) };
        }"""
    )
    assert all(24.5 < step <= 25 for step in steps["apart"])
    assert steps["curve"] == 90 and steps["ends"] and steps["straight"] == 0


def test_aisles_in_a_block_are_marked_and_wide(model: Page) -> None:
    (row,) = model.evaluate("() => block({ rows: 1, seats: 6, spacing: 10, aisles: [2] })")
    assert [seat["aisle"] for seat in row] == [False, True, False, False, False, False]
    assert [round(after["x"] - before["x"]) for before, after in pairwise(row)] == [
        10,
        20,
        10,
        10,
        10,
    ]


def test_new_rows_are_written_from_the_stage_backwards(model: Page) -> None:
    rows = model.evaluate(
        """(layout) => {
          const map = read(layout), history = new History(map);
          history.run("focus", editing.setFocus({ x: 4, y: -10 }));
          history.run("rows", editing.addRows(map, { zone: 0, rows: [[{ x: 1, y: -5 }, { x: 2, y: -5 }]],
            rowStart: "Z" }));
          return [...new Set(write(map).layout.zones[0].seats.map((seat) => seat.row))];
        }""",
        stored(SAMPLES["two rows"]()),
    )
    assert rows == ["Z", "A", "B"]


def test_seats_of_a_published_version_keep_their_ids(model: Page) -> None:
    ids = model.evaluate(
        """(layout) => [true, false].map((published) => {
          const map = read(layout, published), history = new History(map);
          history.run("number", editing.renumberSeats(map, [...map.seats()], { start: "11" }));
          return write(map).layout.zones[0].seats.slice(0, 2).map((seat) => [seat.seat_id, seat.number]);
        })""",
        stored(shaped(a_layout(zones=[stalls(rows="A", width=2, seats=[{"row": "A", "number": n} for n in (1, 2)])]))),
    )
    assert ids == [[["Stalls-A-1", "11"], ["Stalls-A-2", "12"]], [["Stalls-A-11", "11"], ["Stalls-A-12", "12"]]]


def test_a_mirrored_copy_swaps_left_and_right(model: Page) -> None:
    found = model.evaluate(
        """(layout) => {
          const map = read(layout), history = new History(map);
          history.run("section", editing.setTexts(map, [...map.seats()], "section", "Left"));
          history.run("mirror", editing.paste(map, editing.copied(map, [...map.seats()]), { axis: 20 }));
          const seats = write(map).layout.zones[0].seats;
          return [...new Set(seats.map((seat) => seat.section))].concat(seats.filter((seat) =>
            seat.section === "Right" && seat.row === "A").map((seat) => [seat.number, seat.coordinates.x]).slice(0,
            2));
        }""",
        stored(SAMPLES["two rows"]()),
    )
    assert found == ["Left", "Right", ["1", 39], ["2", 38]]


def test_mistakes_of_the_api_lead_to_their_seats(model: Page) -> None:
    found_at = model.evaluate(
        """(layout) => {
          const map = read(layout), { order } = write(map);
          const places = ["zones[0].seats[3].number", "zones[1].capacity", "name", "groups[0].seats"];
          return places.map((place) => { const { where, seats, zone } = found(map, order, { place,
            problem: "is wrong" }); return [where, seats, zone ?? null]; });
        }""",
        stored(SAMPLES["wheelchair places"]()),
    )
    assert found_at == [
        ["Stalls, row A, seat 4", [3], 0],
        ["Floor", [], 1],
        ["Name of the map", [], None],
        ["A group", [], None],
    ]


def test_advice_names_what_guests_would_miss(model: Page) -> None:
    zone = stalls(rows="A", width=3)
    zone["seats"][1] |= {"aisle_after": True}
    zone["seats"] += [
        {"row": "B", "number": 1, "coordinates": {"x": 1, "y": 0.1}},
        {"row": "B", "number": 2, "coordinates": {"x": 1, "y": 2}},
    ]
    told = model.evaluate(
        "(layout) => advice(read(layout)).map((each) => [each.where, each.seats])",
        stored(shaped(a_layout(zones=[zone]))),
    )
    assert told == [["Stage", []], ["2 seats", [0, 3]], ["Stalls, row A, seat 3", [2]]]


def test_the_grid_finds_what_a_search_of_all_seats_finds(model: Page) -> None:
    same = model.evaluate(
        """() => {
          let seed = 3;
          const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
          const count = 3000, x = Float64Array.from({ length: count }, () => random() * 400),
            y = Float64Array.from({ length: count }, () => random() * 100);
          const alive = Uint8Array.from({ length: count }, () => random() > 0.2 ? 1 : 0);
          const grid = new SeatGrid(x, y, { count, side: 7, alive });
          for (let n = 0; n < 200; n++) {
            const box = [random() * 400, random() * 100, random() * 400, random() * 100];
            const [l, t, r, b] = [Math.min(box[0], box[2]), Math.min(box[1], box[3]), Math.max(box[0], box[2]),
            Math.max(box[1], box[3])];
            const seen = []; grid.within(l, t, r, b, (each) => seen.push(each));
            const all = [...x.keys()].filter((each) =>
            alive[each] && x[each] >= l && x[each] <= r && y[each] >= t && y[each] <= b);
            if (seen.sort((a, b) => a - b).join() !== all.join()) return false;
            const near = grid.nearest(l, t, 30);
            const best = [...x.keys()].filter((each) => alive[each]).map((each) => [Math.hypot(x[each] - l,
            y[each] - t), each]).sort((a, b) => a[0] - b[0])[0];
            if (near !== (best[0] <= 30 ? best[1] : undefined)) return false;
          }
          return true;
        }"""
    )
    assert same
