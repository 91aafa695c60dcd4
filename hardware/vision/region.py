"""The part of a camera's picture that is looked at, where the rest shows a poster, a screen or the next lane."""

from dataclasses import dataclass

import numpy as np

from hardware.vision.pixels import Image, grey, is_jpeg


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a picture, in percent of its width and height."""

    left: int
    top: int
    width: int
    height: int

    def of(self, pixels: Image) -> Image:
        """That part of a frame; of a compressed one in grey. Raises DamagedFrame."""
        whole = grey(pixels) if is_jpeg(pixels) else pixels
        rows, columns = whole.shape[:2]
        down = slice(rows * self.top // 100, rows * (self.top + self.height) // 100)
        # Two neighbouring pixels share their colour in what many webcams send.
        across = slice(columns * self.left // 200 * 2, columns * (self.left + self.width) // 200 * 2)
        return np.ascontiguousarray(whole[down, across])
