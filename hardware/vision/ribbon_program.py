"""Writes the frames of the Raspberry Pi's ribbon camera to standard output, in the form that camera_program.py reads.

Run by the system's Python, where `apt install python3-picamera2` puts its libraries; it imports nothing of Gatehouse.
"""

import struct
import sys
from importlib import import_module
from typing import Any


def main() -> int:
    """Runs until nobody reads any more."""
    width, height = (int(size) for size in sys.argv[1:3])
    try:
        library = import_module("picamera2")
    except ImportError as why:
        print(f"ribbon camera: {why}. Install it with: apt install python3-picamera2", file=sys.stderr)
        return 1
    camera = library.Picamera2()
    camera.configure(camera.create_video_configuration({"size": (width, height), "format": "YUV420"}, buffer_count=2))
    camera.start()
    try:
        write_frames(camera, width, height)
    except BrokenPipeError:
        return 0
    finally:
        camera.stop()
    return 0


def write_frames(camera: Any, width: int, height: int) -> None:
    """Writes the brightness of each frame: the first `height` rows of YUV420, without the padding of its rows."""
    head = struct.pack(">4s4sHHI", b"GHF1", b"GREY", width, height, width * height)
    while True:
        rows = camera.capture_array("main")[:height, :width]
        sys.stdout.buffer.write(head + rows.tobytes())
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main())
