"""Layouts are read from other people's files, with their mistakes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import InvalidRequest
from sync_server.seating.file_formats import csv_plans, pretix_plans, svg_plans
from sync_server.seating.layouts.plan import (
    AccessMode,
    Category,
    GroupPlan,
    GroupType,
    LayoutPlan,
    PlannedSeat,
    ZonePlan,
    ZoneType,
)
from sync_server.seating.layouts.validation import check

SVG = '<svg xmlns="http://www.w3.org/2000/svg">{}</svg>'


def refused(read: Callable[[], object]) -> dict[str, str]:
    with pytest.raises(InvalidRequest) as caught:
        read()
    assert caught.value.error_code == "invalid_layout"
    return {each["place"]: each["problem"] for each in caught.value.details["mistakes"]}


def a_pretix_seat(number: int, **changed: Any) -> dict[str, Any]:
    guid = {"seat_guid": f"stalls-A-{number}", "seat_number": str(number)}
    return {**guid, "position": {"x": 25 * number, "y": 0}, "category": "Front"} | changed


def a_pretix_plan(*seats: dict[str, Any], **changed: Any) -> dict[str, Any]:
    row = {"row_number": "A", "row_number_position": "both", "position": {"x": 10, "y": 5}, "seats": list(seats)}
    area = {"shape": "text", "position": {"x": 0, "y": 0}, "text": {"text": "STAGE", "position": {"x": 0, "y": 0}}}
    zone = {"name": "Stalls", "position": {"x": 100, "y": 200}, "rows": [row], "areas": [area]}
    size = {"width": 800, "height": 600}
    return {"name": "Hall", "zones": [zone], "categories": [{"name": "Front", "color": "#f00"}], "size": size} | changed


def read_pretix(plan: Any) -> LayoutPlan:
    return check(pretix_plans.read(orjson.dumps(plan)))


def read_csv(text: bytes) -> LayoutPlan:
    return check(csv_plans.read(text, "Hall"))


def test_pretix_positions_add_up_from_zone_row_and_seat() -> None:
    (zone,) = read_pretix(a_pretix_plan(a_pretix_seat(1), a_pretix_seat(2))).zones
    assert [(seat.x, seat.y, seat.row, seat.number) for seat in zone.seats] == [
        (135, 205, "A", "1"),
        (160, 205, "A", "2"),
    ]
    assert (zone.zone_type, zone.capacity, zone.seats[0].price_category) == (ZoneType.RESERVED_SEATING, 2, "Front")


def test_pretix_drawing_survives_a_round_trip() -> None:
    plan = read_pretix(a_pretix_plan(a_pretix_seat(1)))
    again = orjson.loads(pretix_plans.write(plan))
    assert again["size"] == {"width": 800, "height": 600}
    assert again["categories"] == [{"name": "Front", "color": "#f00"}]
    assert again["zones"][-1]["areas"] == a_pretix_plan()["zones"][0]["areas"]
    assert read_pretix(again) == plan


def test_pretix_mistakes_are_listed_with_their_places() -> None:
    seat = a_pretix_seat(1, colour="red")
    del seat["seat_guid"]
    mistakes = refused(
        lambda: read_pretix(a_pretix_plan(seat, a_pretix_seat(2, position={"x": "left", "y": 0}), extra=1))
    )
    assert mistakes == {
        "zones[0].rows[0].seats[0].seat_guid": "is missing",
        "zones[0].rows[0].seats[0].colour": "is not a field of this format",
        "zones[0].rows[0].seats[1].position.x": "must be a number",
        "extra": "is not a field of this format",
    }


def test_pretix_seat_of_a_category_that_does_not_exist() -> None:
    mistakes = refused(lambda: read_pretix(a_pretix_plan(a_pretix_seat(1, category="Gold"))))
    assert list(mistakes) == ["zones[0].rows[0].seats[0].category"]


def test_two_rows_of_the_same_name_stay_separate() -> None:
    plan = a_pretix_plan(a_pretix_seat(1))
    plan["zones"][0]["rows"].append({"row_number": "A", "seats": [a_pretix_seat(1, seat_guid="other")]})
    (zone,) = read_pretix(plan).zones
    assert len({(seat.section, seat.row) for seat in zone.seats}) == 2


def test_csv_of_a_spreadsheet_with_semicolons_and_a_byte_order_mark() -> None:
    plan = read_csv("\ufeffZone;Row;Number;Category\r\nParkett;A;1;\r\nParkett;A;2;wheelchair\r\n".encode())
    (zone,) = plan.zones
    assert [(seat.seat_id, seat.category) for seat in zone.seats] == [
        ("Parkett-A-1", Category.STANDARD),
        ("Parkett-A-2", Category.WHEELCHAIR),
    ]


def test_csv_zone_without_seats_has_a_capacity() -> None:
    text = b"zone,zone_type,capacity,access_mode,allowed_roles\nPit,ga_standing,300,role_based,crew|press\n"
    (zone,) = read_csv(text).zones
    assert (zone.capacity, zone.access_mode, zone.allowed_roles) == (300, AccessMode.ROLE_BASED, ("crew", "press"))


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (b"row,number\nA,1\n", {"line 1"}),
        (b"zone,row,number,colour\nS,A,1,red\n", {"line 1"}),
        (b"zone,row,number,focus_x\nS,A,1,3\n", {"line 2, focus_y"}),
        (b"zone,row,number,layout_focus_x,layout_focus_y\nS,A,1,3,4\nS,A,2,4,4\n", {"line 3, layout_focus_x"}),
        (b"zone,row,number,group\nS,A,1,T1\n", {"line 2, group_type"}),
        (b"zone,row,number,group_type\nS,A,1,vip_table\n", {"line 2, group"}),
        (b"zone,row,number,x\nS,A,1,left\n", {"line 2, x"}),
        (b"zone,row,number,x\nS,A,1,nan\n", {"line 2, x"}),
        (b"zone,row,number\n,A,1\nS,A,\n", {"line 2, zone", "line 3, number"}),
        (b"zone,zone_type,capacity\nPit,ga_standing,\n", {"line 2, capacity"}),
        (b"zone,zone_type,row,number\nS,reserved_seating,A,1\nS,ga_seated,A,2\n", {"line 3, zone_type"}),
        (b"zone,row,number\nS,A,1,2,3\n", {"line 2"}),
        (b"zone,row,number\n\xff,A,1\n", {"byte 16"}),
        (b'zone,row,number\n"S,A,1\n', {"line 2"}),
        (b"zone,row,row\nS,A,1\n", {"line 1"}),
        (b'"', {"line 1"}),
        (b"", {"line 1"}),
    ],
)
def test_csv_mistakes_are_listed_with_line_and_column(text: bytes, places: set[str]) -> None:
    assert set(refused(lambda: read_csv(text))) == places


def read_svg(body: str) -> LayoutPlan:
    return check(svg_plans.read(SVG.format(body).encode(), "Hall"))


def test_svg_shapes_inherit_from_their_groups() -> None:
    (zone,) = read_svg(
        '<g data-zone="Stalls" transform="translate(100 0)"><g data-row="A" transform="scale(2)">'
        '<circle data-seat="A-1" data-number="1" cx="1" cy="2" onclick="steal()"/>'
        '<rect data-seat="A-2" data-number="2" x="2" y="1" width="2px" height="2px" data-category="wheelchair"/>'
        "</g></g>"
    ).zones
    assert [(seat.seat_id, seat.row, seat.x, seat.y, seat.category.value) for seat in zone.seats] == [
        ("A-1", "A", 102.0, 4.0, "standard"),
        ("A-2", "A", 106.0, 4.0, "wheelchair"),
    ]


def test_svg_rotated_rows_are_where_they_appear() -> None:
    (zone,) = read_svg(
        '<g data-zone="Z" data-row="A" transform="rotate(90 10 10)">'
        '<circle data-seat="1" data-number="1" cx="20" cy="10"/></g>'
    ).zones
    assert (zone.seats[0].x, zone.seats[0].y) == (10.0, 20.0)


def test_svg_shape_with_a_capacity_is_a_zone() -> None:
    (zone,) = read_svg('<path data-zone="Pit" data-capacity="250" d="M0 0"/>').zones
    assert (zone.zone_type, zone.capacity) == (ZoneType.GA_STANDING, 250)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ('<circle data-seat="1" data-row="A" data-number="1"/>', "line 1, data-zone"),
        ('<g data-zone="Z"><circle data-seat="1" data-number="1"/></g>', "line 1, data-row"),
        ('<g data-zone="Z" data-row="A"><circle data-seat="" data-number="1"/></g>', "line 1, data-seat"),
        ('<g data-zone="Z" data-row="A"><circle data-seat="1" data-number="1" cx="far"/></g>', "line 1"),
        ('<g data-zone="Z" transform="wobble(1)"><path data-capacity="5"/></g>', "line 1, transform"),
        ('<path data-zone="Z" data-capacity="many"/>', "line 1, data-capacity"),
        (
            '<g data-zone="Z" data-category="throne" data-row="A"><use data-seat="1" data-number="1"/></g>',
            "line 1, data-category",
        ),
        ("<circle/>", "the drawing"),
        ("<circle>", "line 1, column 51"),
    ],
)
def test_svg_mistakes_are_listed_with_their_line(body: str, place: str) -> None:
    assert place in refused(lambda: read_svg(body))


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY a "ha">',
        '<!ENTITY a SYSTEM "file:///etc/hostname">',
        '<!ENTITY % b SYSTEM "http://localhost/x"> %b;',
        "",
    ],
)
def test_svg_with_a_document_type_is_refused_before_entities_expand(declared: str) -> None:
    text = f'<?xml version="1.0"?><!DOCTYPE svg [{declared}]>{SVG.format("<text>x</text>")}'
    assert "document type" in next(iter(refused(lambda: svg_plans.read(text.encode(), "Hall")).values()))


def test_svg_that_is_nested_too_deep_is_refused() -> None:
    assert "levels deep" in next(iter(refused(lambda: read_svg("<g>" * 5000 + "</g>" * 5000)).values()))


def a_layout() -> LayoutPlan:
    seats = (
        PlannedSeat("A & 1", "A", '1"', 0.5, -2.25, Category.WHEELCHAIR, "A<2"),
        PlannedSeat("A<2", "A", "2", 1.5, -2.25, Category.COMPANION, "A & 1", price_category="Front"),
        PlannedSeat("Ä-3", "A", "3", 2.5, -2.25, aisle_after=True, section="left"),
    )
    stalls = ZonePlan(
        "Stalls", ZoneType.VIP_RESERVED, 3, AccessMode.MEMBERSHIP_TIER, "friends", focus=(1.5, -6.0), seats=seats
    )
    table = GroupPlan(GroupType.VIP_TABLE, ("Ä-3",), {"name": "Table 1"}, sold_whole=True)
    pit = ZonePlan("Pit", ZoneType.GA_STANDING, 40)
    return LayoutPlan("Hall", (stalls, pit), groups=(table,), focus=(1.5, -5.25))


def test_written_files_can_be_read_again() -> None:
    layout = a_layout()
    assert read_csv(csv_plans.write(layout)) == layout
    assert check(svg_plans.read(svg_plans.write(layout), "Hall")) == layout


def test_a_pretix_drawing_keeps_the_focus_as_the_text_stage() -> None:
    assert read_pretix(a_pretix_plan(a_pretix_seat(1))).focus == (100.0, 200.0)
    plan = replace(read_pretix(a_pretix_plan(a_pretix_seat(1))), focus=(7.0, -3.5))
    assert check(pretix_plans.read(pretix_plans.write(plan))).focus == (7.0, -3.5)


def test_a_drawn_stage_is_the_focus_of_the_house_or_of_the_zone_around_it() -> None:
    plan = read_svg(
        '<rect data-focus="yes" x="10" y="0" width="20" height="4"/><g data-zone="Stalls">'
        '<circle data-seat="A-1" data-row="A" data-number="1" cx="1" cy="2"/>'
        '<circle data-focus="yes" transform="translate(5 0)" cx="1" cy="1"/></g>'
    )
    assert (plan.focus, plan.zones[0].focus) == ((20.0, 2.0), (6.0, 1.0))
    twice = '<g data-zone="Z"><path data-capacity="5"/><path data-focus="yes"/><path data-focus="yes"/></g>'
    assert list(refused(lambda: read_svg(twice))) == ["line 1, data-focus"]


def test_all_mistakes_of_a_file_are_listed_at_once_each_with_its_line() -> None:
    """Those of single fields, of seats that contradict each other, and of zones."""
    lines = (
        "zone,zone_type,capacity,access_mode,row,number,x,category,seat_id,companion_seat_id",
        "Stalls,,,membership_tier,A,1,left,,A-1,",
        "Stalls,,,,A,2,,throne,A-1,",
        "Stalls,,,,A,2,,wheelchair,A-3,B-9",
        "Pit,ga_standing,,,,,,,,",
        "Stage,ga_standing,10,,C,1,,,,",
        "Stalls,,,,A,4,,companion,A-4,",
    )
    assert refused(lambda: read_csv("\n".join(lines).encode())) == {
        "line 2, membership_tier": "give the tier that may book here",
        "line 2, x": "'left' is not a number",
        "line 3, category": "'throne' is not one of standard, wheelchair, companion, restricted_view, aisle",
        "line 3, number": "row 'A' has 2 seats with the number '2'",
        "line 3, seat_id": "'A-1' is also the id of line 2",
        "line 4, companion_seat_id": "there is no seat 'B-9' in this layout",
        "line 5, capacity": "is empty: a zone of type ga_standing needs a capacity",
        "line 6": "a zone of type ga_standing has a capacity but no seats of its own",
        "line 7, companion_seat_id": "give the wheelchair place of this companion seat",
    }


def test_mistakes_in_a_drawing_are_listed_at_once_each_with_its_line() -> None:
    found = refused(
        lambda: read_svg(
            '<g data-zone="Z" data-zone-type="throne">\n<circle data-seat="1" data-row="A" data-number="1"/>\n'
            '<circle data-seat="1" data-row="A" data-number="2" cx="3"/>\n<circle data-seat="3" data-number="3"/></g>'
        )
    )
    assert list(found) == ["line 4, data-row", "line 2, data-zone-type", "line 3, data-seat"]


def test_beyond_a_hundred_mistakes_are_counted_and_the_message_says_so() -> None:
    seats = "".join(f"S,A,{number},left\n" for number in range(150))
    with pytest.raises(InvalidRequest) as caught:
        read_csv(f"zone,row,number,x\n{seats}".encode())
    assert len(caught.value.details["mistakes"]) == 100 and caught.value.details["mistakes_in_all"] == 150
    assert "150 mistakes" in caught.value.message and "the first 100" in caught.value.message


@given(st.binary(max_size=300) | st.text(alphabet='zone,row;\n"123 AS\t', max_size=200).map(str.encode))
def test_no_file_causes_anything_but_a_refusal(text: bytes) -> None:
    for read in (pretix_plans.read, lambda t: csv_plans.read(t, "Hall"), lambda t: svg_plans.read(t, "Hall")):
        try:
            check(read(text))
        except InvalidRequest as refusal:
            assert refusal.details["mistakes"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "rows", "seats", "name"]), inner),
    max_leaves=10,
)


@given(zones=JSON, row=JSON)
def test_malformed_plans_are_refused(zones: Any, row: Any) -> None:
    broken = a_pretix_plan(a_pretix_seat(1))
    broken["zones"][0]["rows"][0] |= {"row_number": "A", "seats": row}
    for plan in (a_pretix_plan(zones=zones), broken):
        try:
            body = orjson.dumps(plan)
        except TypeError:
            continue  # whole numbers beyond what JSON of this kind can say
        try:
            assert check(pretix_plans.read(body)).zones
        except InvalidRequest as refusal:
            assert refusal.details["mistakes"]
