"""Finding the camera that was meant, whatever number the system gives it today."""

from pathlib import Path

import pytest

from hardware.ports import DeviceError
from hardware.vision.webcams import Torch, device_of, known_webcams

LEFT = "usb-046d_HD_Pro_Webcam_C920_5A2B-video-index0"
RIGHT = "usb-046d_HD_Pro_Webcam_C920_77F0-video-index0"
OTHER = "usb-Generic_USB_Camera-video-index0"


@pytest.fixture
def names(tmp_path: Path) -> Path:
    for name in (LEFT, LEFT.replace("index0", "index1"), OTHER):
        (tmp_path / name).symlink_to("../../video0")
    return tmp_path


def test_a_camera_is_found_by_a_part_of_its_name(names: Path) -> None:
    assert device_of("c920", folder=names) == str(names / LEFT)


def test_the_first_camera_is_taken_if_none_is_named(names: Path) -> None:
    assert device_of("", folder=names) == str(names / LEFT)
    assert device_of("", folder=names / "missing") == 0


def test_the_metadata_of_a_camera_is_no_camera(names: Path) -> None:
    assert known_webcams(names) == [LEFT, OTHER]


def test_of_two_equal_cameras_neither_is_guessed(names: Path) -> None:
    (names / RIGHT).symlink_to("../../video2")
    with pytest.raises(DeviceError, match=r"Several cameras .*5A2B.*77F0"):
        device_of("C920", folder=names)
    assert device_of("77F0", folder=names) == str(names / RIGHT)


def test_a_name_that_no_camera_has_lists_those_that_are_there(names: Path) -> None:
    with pytest.raises(DeviceError, match=r"No connected camera .*Generic"):
        device_of("Logitech", folder=names)


@pytest.mark.parametrize(("source", "device"), [("2", 2), ("/dev/video2", "/dev/video2")])
def test_numbers_and_paths_are_taken_as_they_are(source: str, device: int | str, names: Path) -> None:
    assert device_of(source, folder=names) == device


def test_a_torch_is_lit_fully_and_put_out(tmp_path: Path) -> None:
    light = tmp_path / "flash"
    light.mkdir()
    (light / "max_brightness").write_text("127\n")
    (light / "brightness").write_text("0\n")
    torch = Torch("flash", tmp_path)
    torch.switch(on=True)
    assert (light / "brightness").read_text() == "127"
    torch.switch(on=False)
    assert (light / "brightness").read_text() == "0"


def test_a_torch_that_is_not_there_says_which_are(tmp_path: Path) -> None:
    (tmp_path / "led0").mkdir()
    with pytest.raises(DeviceError, match="this machine has: led0"):
        Torch("flash", tmp_path).switch(on=True)
