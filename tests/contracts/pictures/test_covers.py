"""Covers are hung up, put in order and taken off; everybody finds them by a name that is right for ever."""

from __future__ import annotations

import io
from typing import Any

from PIL import Image
from werkzeug.test import TestResponse

from tests.builders import DAY, EVENING, HOUR
from tests.office import Desk, Evening, Office


def a_picture(colour: str = "red", kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (640, 400), colour).save(out, kind)
    return out.getvalue()


def send(evening: Evening, content: bytes, query: str = "", **words: Any) -> TestResponse:
    path = f"{evening.path}/covers{query}"
    return evening.desk.client.post(path, data=content, headers=evening.desk.headers | words)


def hang(evening: Evening, colour: str) -> str:
    answer = send(evening, a_picture(colour))
    assert answer.status_code == 201, answer.json
    return str(answer.json["items"][-1]["id"])


def seen(office: Office, id: str) -> int:
    return office.app.test_client().get(f"/images/{id}/320.webp").status_code


def test_a_cover_is_seen_by_everybody_and_remembered_for_ever(office: Office, evening: Evening) -> None:
    cover = send(evening, a_picture(kind="JPEG"), "?alt=A%20red%20hall").json["items"][0]
    assert cover["alt"] == "A red hall" and cover["url"] == f"/images/{cover['id']}/1600.jpg"
    stranger = office.app.test_client()
    for form in ("320.webp", "800.jpg", "1600.webp"):
        answer = stranger.get(f"/images/{cover['id']}/{form}")
        assert answer.status_code == 200
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.content_type == ("image/webp" if form.endswith("webp") else "image/jpeg")
        with Image.open(io.BytesIO(answer.data)) as picture:
            assert picture.size[0] == min(640, int(form.split(".")[0]))
        again = stranger.get(f"/images/{cover['id']}/{form}", headers={"If-None-Match": answer.headers["ETag"]})
        assert (again.status_code, again.data) == (304, b"")
    event = evening.desk.get(evening.path)
    assert event["image_url"] == cover["url"] and event["thumbnail_url"].endswith("/320.webp")
    for nothing in (f"/images/{cover['id']}/321.webp", f"/images/{'0' * 40}/320.webp"):
        assert stranger.get(nothing).status_code == 404


def test_a_cover_that_is_sent_twice_with_one_key_hangs_once(evening: Evening) -> None:
    first, again, other = (
        send(evening, a_picture(colour), **{"Idempotency-Key": "poster"}) for colour in ("red", "red", "blue")
    )
    assert (first.status_code, again.status_code) == (201, 201) and first.json == again.json
    assert (other.status_code, other.json["error"]["code"]) == (409, "idempotency_key_reused")
    assert len(evening.desk.get(f"{evening.path}/covers")["items"]) == 1
    in_a_form = [_form(evening, colour) for colour in ("red", "red", "blue")]
    assert [answer.status_code for answer in in_a_form] == [201, 201, 409]


def _form(evening: Evening, colour: str) -> TestResponse:
    form = {"file": (io.BytesIO(a_picture(colour)), f"{colour}.png")}
    return evening.desk.client.post(
        f"{evening.path}/covers", data=form, headers=evening.desk.headers | {"Idempotency-Key": "another"}
    )


def test_a_form_brings_a_cover_too(evening: Evening) -> None:
    form = {"file": (io.BytesIO(a_picture()), "../../etc/passwd.svg"), "alt": "A hall"}
    answer = evening.desk.client.post(f"{evening.path}/covers", data=form, headers=evening.desk.headers)
    assert (answer.status_code, answer.json["items"][0]["alt"]) == (201, "A hall")
    nothing = evening.desk.client.post(
        f"{evening.path}/covers", data={"alt": "x"}, headers=evening.desk.headers, content_type="multipart/form-data"
    )
    assert (nothing.status_code, nothing.json["error"]["code"]) == (400, "invalid_request")


def test_covers_are_arranged_described_and_taken_off(office: Office, evening: Evening) -> None:
    desk, path = evening.desk, f"{evening.path}/covers"
    red, green, blue = (hang(evening, colour) for colour in ("red", "green", "blue"))
    assert [each["id"] for each in desk.put(path, {"ids": [blue, red, green]})["items"]] == [blue, red, green]
    assert desk.patch(f"{path}/{red}", {"alt": "Red"})["items"][1]["alt"] == "Red"
    assert [each["id"] for each in desk.ask("DELETE", f"{path}/{blue}").json["items"]] == [red, green]
    assert [each["id"] for each in desk.put(path, {"ids": [green]})["items"]] == [green]
    assert (seen(office, blue), seen(office, red), seen(office, green)) == (404, 404, 200)
    for wrong in ([green, green], [red], ["x"]):
        assert desk.refused("PUT", path, {"ids": wrong})[0] == 400
    assert desk.refused("DELETE", f"{path}/{red}") == (404, "cover_not_found")


def test_an_event_has_eight_covers_and_the_same_one_once(evening: Evening) -> None:
    for number in range(8):
        hang(evening, f"#0000{number:02x}")
    assert len(send(evening, a_picture("#000000"), "?alt=again").json["items"]) == 8
    answer = send(evening, a_picture("white"))
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "too_many_covers")


def test_a_picture_stays_as_long_as_one_event_shows_it(office: Office, evening: Evening) -> None:
    red = hang(evening, "red")
    copy = evening.desk.post(f"{evening.path}/copy", {"start_at": EVENING + DAY + 2 * HOUR})
    assert [cover["id"] for cover in copy["covers"]] == [red]
    evening.desk.ask("DELETE", f"{evening.path}/covers/{red}")
    assert seen(office, red) == 200
    evening.desk.ask("DELETE", f"/api/events/{copy['id']}/covers/{red}")
    assert seen(office, red) == 404


def test_the_same_picture_of_two_organisations_is_two(office: Office, evening: Evening) -> None:
    from tests.office import an_evening

    rival = an_evening(office.desk(office.organisation("rival")))
    mine, theirs = hang(evening, "red"), hang(rival, "red")
    assert mine != theirs
    assert rival.desk.refused("GET", f"{evening.path}/covers") == (404, "event_not_found")
    foreign = Evening(rival.desk, evening.venue, evening.event)
    assert send(foreign, a_picture()).status_code == 404
    rival.desk.ask("DELETE", f"{rival.path}/covers/{theirs}")
    assert (seen(office, mine), seen(office, theirs)) == (200, 404)


def test_what_is_no_picture_is_refused_in_words(office: Office, desk: Desk, evening: Evening) -> None:
    answers = {
        "picture_unknown": send(evening, b"<svg/>", **{"Content-Type": "image/png"}),
        "picture_damaged": send(evening, a_picture()[:60]),
        "too_large": send(evening, b"\xff\xd8\xff" + bytes(11 * 1024 * 1024)),
        "invalid_request": send(evening, b""),
    }
    assert {code: answer.json["error"]["code"] for code, answer in answers.items()} == {code: code for code in answers}
    assert [answer.status_code for answer in answers.values()] == [400, 400, 413, 400]
    assert desk.get(f"{evening.path}/covers")["items"] == []
    assert office.app.test_client().post(f"{evening.path}/covers", data=a_picture()).status_code == 401
    reader = Evening(office.desk(_organisation(office), ["read"]), evening.venue, evening.event)
    assert send(reader, a_picture()).status_code == 403


def _organisation(office: Office) -> str:
    from sync_server.accounts import queries

    with office.database.reading() as session:
        found = queries.organisation_by_slug(session, "marquee")
        assert found is not None
        return found.id
