"""What comes out of a picture was drawn here: upright, bounded, and with nothing of what came along."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from shared.errors import GatehouseError, InvalidRequest, TooLarge
from sync_server.pictures import drawing
from sync_server.pictures.drawing import VARIANTS, draw


def a_picture(kind: str = "JPEG", size: tuple[int, int] = (2000, 1000), mode: str = "RGB", **saved: object) -> bytes:
    out = io.BytesIO()
    picture = Image.new("RGBA", size, (255, 0, 0, 0 if mode == "RGBA" else 255))
    picture.paste((0, 0, 255, 255), (0, 0, size[0] // 2, size[1]))  # the left half
    (picture if mode == "RGBA" else picture.convert(mode)).save(out, kind, **saved)
    return out.getvalue()


def an_exif(orientation: int) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010E] = "taken at home, 52.5N 13.4E"
    return exif.tobytes()


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def a_png_of(width: int, height: int, body: bytes = b"") -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body or zlib.compress(b"")) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("kind", "mode"),
    [("JPEG", "RGB"), ("JPEG", "CMYK"), ("JPEG", "L"), ("PNG", "RGBA"), ("PNG", "P"), ("PNG", "1"), ("WEBP", "RGB")],
)
def test_every_kind_comes_out_in_every_size_and_form(kind: str, mode: str) -> None:
    drawn = draw(a_picture(kind, mode=mode))
    assert [each.name for each in drawn.variants] == list(VARIANTS)
    for each in drawn.variants:
        width = int(each.name.split(".")[0])
        with Image.open(io.BytesIO(each.content)) as picture:
            assert picture.size == (each.width, each.height) == (width, width // 2)
            assert f"image/{(picture.format or '').lower()}" == each.content_type
            assert not picture.getexif() and "exif" not in picture.info and "icc_profile" not in picture.info


def test_a_picture_taken_sideways_stands_upright_and_tells_no_place() -> None:
    content = a_picture(size=(1000, 500), exif=an_exif(6))
    assert b"52.5N" in content
    drawn = draw(content)
    assert (drawn.width, drawn.height) == (500, 1000)
    assert all(b"52.5N" not in each.content for each in drawn.variants)
    with Image.open(io.BytesIO(drawn.variants[1].content)) as picture:
        red, _green, blue = picture.convert("RGB").getpixel((160, 10))  # the left half is on top now
        assert blue > 200 > red


def test_a_small_picture_is_not_blown_up() -> None:
    assert {(each.width, each.height) for each in draw(a_picture("PNG", size=(100, 60))).variants} == {(100, 60)}


def test_what_shines_through_is_white_where_a_form_knows_no_glass() -> None:
    drawn = {each.name: each.content for each in draw(a_picture("PNG", size=(400, 200), mode="RGBA")).variants}
    with Image.open(io.BytesIO(drawn["320.jpg"])) as paper, Image.open(io.BytesIO(drawn["320.webp"])) as glass:
        assert min(paper.getpixel((300, 80))) > 240
        assert glass.getpixel((300, 80))[3] == 0


def test_a_name_makes_no_picture() -> None:
    for content in (b"GIF89a" + bytes(100), b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"MZ", b"", b"RIFF1234WAVE"):
        with pytest.raises(InvalidRequest, match="JPEG, PNG or WebP"):
            draw(content)


def test_a_bomb_is_refused_by_its_head_before_anything_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    def unpacked(*_args: object) -> None:
        raise AssertionError("the picture was unpacked")

    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", unpacked)
    monkeypatch.setattr("PIL.WebPImagePlugin.WebPImageFile._open", unpacked)
    wide = b"RIFF" + struct.pack("<I", 22) + b"WEBPVP8X" + struct.pack("<I", 10) + bytes(4) + b"\xfe\x3f\x00" * 2
    lossless = (
        b"RIFF" + struct.pack("<I", 22) + b"WEBPVP8L" + struct.pack("<I", 10) + b"\x2f\xff\xff\xff\x0f" + bytes(5)
    )
    lossy = b"RIFF" + struct.pack("<I", 22) + b"WEBPVP8 " + struct.pack("<I", 10) + bytes(6) + b"\xff\x3f\xff\x3f"
    for bomb in (a_png_of(8_000, 8_000), a_png_of(50_000, 50_000), a_png_of(1, 20_000), wide, lossless, lossy):
        with pytest.raises(TooLarge) as refused:
            draw(bomb)
        assert refused.value.error_code == "too_many_pixels"


def test_forty_million_pixels_are_not_too_many() -> None:
    drawn = draw(a_picture("PNG", size=(8_000, 5_000)))
    assert (drawn.width, drawn.height) == (8_000, 5_000) and drawn.variants[-1].width == 1600


def test_too_many_bytes_are_refused() -> None:
    with pytest.raises(TooLarge, match="10 MB"):
        draw(b"\xff\xd8\xff" + bytes(drawing.MOST_BYTES))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_half_a_picture_is_damaged_and_no_fault_of_ours(kind: str) -> None:
    whole = a_picture(kind, size=(300, 200))
    for end in (12, 40, len(whole) // 2):
        with pytest.raises(InvalidRequest):
            draw(whole[:end])


@given(st.sampled_from(["JPEG", "PNG", "WEBP"]), st.data())
def test_whatever_is_broken_is_said_in_words(kind: str, data: st.DataObject) -> None:
    whole = bytearray(a_picture(kind, size=(24, 16)))
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        assert len(draw(bytes(whole)).variants) == len(VARIANTS)
    except GatehouseError as refusal:
        assert refusal.status in {400, 413}
