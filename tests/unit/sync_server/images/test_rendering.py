"""Rendered images are upright, of limited size, and without metadata."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from shared.errors import GatehouseError, InvalidRequest, TooLarge, Unavailable
from sync_server.images import rendering
from sync_server.images.rendering import VARIANTS, render_image
from sync_server.plumbing.lanes import Lane


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
def test_every_format_is_rendered_in_every_variant(kind: str, mode: str) -> None:
    rendered = render_image(a_picture(kind, mode=mode))
    assert [each.name for each in rendered.variants] == list(VARIANTS)
    for each in rendered.variants:
        width = int(each.name.split(".")[0])
        with Image.open(io.BytesIO(each.content)) as picture:
            assert picture.size == (each.width, each.height) == (width, width // 2)
            assert f"image/{(picture.format or '').lower()}" == each.content_type
            assert not picture.getexif() and "exif" not in picture.info and "icc_profile" not in picture.info


def test_image_is_rotated_upright_and_loses_its_location() -> None:
    content = a_picture(size=(1000, 500), exif=an_exif(6))
    assert b"52.5N" in content
    rendered = render_image(content)
    assert (rendered.width, rendered.height) == (500, 1000)
    assert all(b"52.5N" not in each.content for each in rendered.variants)
    with Image.open(io.BytesIO(rendered.variants[1].content)) as picture:
        red, _green, blue = picture.convert("RGB").getpixel((160, 10))  # the left half is on top now
        assert blue > 200 > red


def test_small_image_is_not_enlarged() -> None:
    assert {(each.width, each.height) for each in render_image(a_picture("PNG", size=(100, 60))).variants} == {
        (100, 60)
    }


def test_transparency_becomes_white_in_jpeg() -> None:
    rendered = {
        each.name: each.content for each in render_image(a_picture("PNG", size=(400, 200), mode="RGBA")).variants
    }
    with Image.open(io.BytesIO(rendered["320.jpg"])) as jpeg, Image.open(io.BytesIO(rendered["320.webp"])) as webp:
        assert min(jpeg.getpixel((300, 80))) > 240
        assert webp.getpixel((300, 80))[3] == 0


def test_other_content_is_refused() -> None:
    for content in (b"GIF89a" + bytes(100), b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"MZ", b"", b"RIFF1234WAVE"):
        with pytest.raises(InvalidRequest, match="JPEG, PNG or WebP"):
            render_image(content)


def test_decompression_bomb_is_refused_before_it_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    def decoded(*_args: object) -> None:
        raise AssertionError("the image was decoded")

    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", decoded)
    monkeypatch.setattr("PIL.WebPImagePlugin.WebPImageFile._open", decoded)
    wide = b"RIFF" + struct.pack("<I", 22) + b"WEBPVP8X" + struct.pack("<I", 10) + bytes(4) + b"\xfe\x3f\x00" * 2
    lossless = (
        b"RIFF" + struct.pack("<I", 22) + b"WEBPVP8L" + struct.pack("<I", 10) + b"\x2f\xff\xff\xff\x0f" + bytes(5)
    )
    lossy = b"RIFF" + struct.pack("<I", 22) + b"WEBPVP8 " + struct.pack("<I", 10) + bytes(6) + b"\xff\x3f\xff\x3f"
    for bomb in (a_png_of(8_000, 8_000), a_png_of(50_000, 50_000), a_png_of(1, 20_000), wide, lossless, lossy):
        with pytest.raises(TooLarge) as refused:
            render_image(bomb)
        assert refused.value.error_code == "too_many_pixels"


def test_forty_million_pixels_are_allowed() -> None:
    rendered = render_image(a_picture("PNG", size=(8_000, 5_000)))
    assert (rendered.width, rendered.height) == (8_000, 5_000) and rendered.variants[-1].width == 1600


def test_too_many_bytes_are_refused() -> None:
    with pytest.raises(TooLarge, match="10 MB"):
        render_image(b"\xff\xd8\xff" + bytes(rendering.MAX_BYTES))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_truncated_image_is_refused(kind: str) -> None:
    whole = a_picture(kind, size=(300, 200))
    for end in (12, 40, len(whole) // 2):
        with pytest.raises(InvalidRequest):
            render_image(whole[:end])


@given(st.sampled_from(["JPEG", "PNG", "WEBP"]), st.data())
def test_corrupted_image_is_rendered_or_refused(kind: str, data: st.DataObject) -> None:
    whole = bytearray(a_picture(kind, size=(24, 16)))
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        assert len(render_image(bytes(whole)).variants) == len(VARIANTS)
    except GatehouseError as refusal:
        assert refusal.status in {400, 413}


def test_pictures_wait_for_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    lane = Lane("other pictures", waiting=0, retry_after=1)
    monkeypatch.setattr(rendering, "_LANE", lane)
    with lane.turn(), pytest.raises(Unavailable, match="other pictures"):
        render_image(a_picture())


FOUR_AT_ONCE = """
import io, re, threading
from PIL import Image
from sync_server.images.rendering import render_image
out = io.BytesIO()
Image.linear_gradient("L").resize((7900, 5000)).convert("RGB").save(out, "JPEG")
threads = [threading.Thread(target=render_image, args=(out.getvalue(),)) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
# Not getrusage: a program begins with the peak of the one that started it.
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024)
"""


def test_four_large_pictures_at_once_stay_small() -> None:
    """They took 2.3 GB, each decoded whole at the same time; making the picture takes most of what is left."""
    done = subprocess.run([sys.executable, "-c", FOUR_AT_ONCE], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 600


@pytest.mark.parametrize(("mode", "size"), [("RGBA", (5000, 3000)), ("P", (3000, 5000)), ("L", (4000, 4000))])
def test_a_picture_larger_than_its_largest_variant(mode: str, size: tuple[int, int]) -> None:
    rendered = render_image(a_picture("PNG", size, mode))
    assert (rendered.width, rendered.height) == size
    with Image.open(io.BytesIO(rendered.variants[-1].content)) as picture:
        assert picture.size == (1600, round(1600 * size[1] / size[0]))
        red, _green, blue = picture.convert("RGB").getpixel((100, 100))
        assert blue > red or mode == "L"
