"""Detects motion in front of a camera, so that an idle camera costs almost no CPU."""

import cv2
import numpy as np

from hardware.vision.pixels import Image
from hardware.vision.stages import Area

# A distant phone covers about twenty coarse cells; each cell averages out the camera's noise.
COARSE = (32, 24)
CELL_CHANGED_BY = 8
CELLS_CHANGED = 4
# Guests move a phone and then hold it still: keep trying for that long, at 15 to 30 frames a second.
TRY_FRAMES_AFTER_MOVE = 40
# Cells around those that changed: a code's edges move over more cells than its middle.
MARGIN_CELLS = 2
# A frame in which more than this share of cells changes is a moved camera or a light: everything is looked at.
WHOLE_SHARE = 0.6


class MotionDetector:
    """Detects recent motion, and where, from coarse copies of the frames."""

    def __init__(self) -> None:
        self._before: Image | None = None
        self._frames_left = 0
        self._area: Area | None = None

    def recent(self, image: Image) -> Area | None:
        """Takes the next frame. The area of the last motion, if there was any in this frame or shortly before."""
        coarse = np.asarray(cv2.resize(image, COARSE, interpolation=cv2.INTER_AREA), dtype=np.uint8)
        before, self._before = self._before, coarse
        if before is None:
            return self._moved(np.ones_like(coarse, dtype=np.bool_), image)
        changed = changed_cells(before, coarse)
        if np.count_nonzero(changed) >= CELLS_CHANGED:
            return self._moved(changed, image)
        self._frames_left = max(0, self._frames_left - 1)
        return self._area if self._frames_left else None

    def _moved(self, changed: np.ndarray, image: Image) -> Area:
        self._frames_left = TRY_FRAMES_AFTER_MOVE
        self._area = _around(changed, image)
        return self._area


def changed_cells(before: Image, after: Image) -> np.ndarray:
    """The cells that changed by more than noise and flicker explain."""
    return np.asarray(cv2.absdiff(before, after) > CELL_CHANGED_BY)


def _around(changed: np.ndarray, image: Image) -> Area:
    rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    height, width = image.shape
    area = (_span(rows, changed.shape[0], height), _span(columns, changed.shape[1], width))
    covered = (area[0].stop - area[0].start) * (area[1].stop - area[1].start) / image.size
    return area if covered < WHOLE_SHARE else (slice(0, height), slice(0, width))


def _span(cells: np.ndarray, count: int, pixels: int) -> slice:
    first, last = max(0, int(cells[0]) - MARGIN_CELLS), min(count, int(cells[-1]) + 1 + MARGIN_CELLS)
    return slice(first * pixels // count, -(-last * pixels // count))
