"""Codes in photographs, as `gatehouse-gate decode` reads them: never fewer than any other decoder alone.

Beside the gate's decoder run plain zxing-cpp, pyzbar and OpenCV's own detector, on the same pictures, drawn by
hardware/simulated from a seed that is printed; GATEHOUSE_BENCH_SEED repeats a run. The yardstick of a kind is the best
of the others; the time is the processor's.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator

import cv2
import numpy as np
from pyzbar import pyzbar

from hardware.vision.pixels import Image
from hardware.vision.stages import read_zxing
from hardware.vision.stills import decode_still
from scripts.benchmarking.gates.still_pictures import LARGE_PICTURES, SMALL_PICTURES, Photograph
from scripts.benchmarking.result import Figure, Goal, Result, at_most
from scripts.benchmarking.statistics import Spread

Read = Callable[[Image], set[str]]
NEVER_FEWER = Goal("no fewer than any other", lambda figure: figure.value >= (figure.yardstick or 0))
LONGEST_MS = 2_000


def _opencv(image: Image) -> set[str]:
    try:
        found, texts, _, _ = cv2.QRCodeDetector().detectAndDecodeMulti(image)
    except cv2.error:
        return set()
    return set(texts) if found else set()


def _pyzbar(image: Image) -> set[str]:
    return {code.data.decode("utf-8", "replace") for code in pyzbar.decode(image, [pyzbar.ZBarSymbol.QRCODE])}


OTHERS: tuple[Read, ...] = (lambda image: {code.text for code in read_zxing(image).found}, _pyzbar, _opencv)


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure each kind with each decoder."""
    cv2.setNumThreads(1)
    seed = int(os.environ.get("GATEHOUSE_BENCH_SEED", "") or secrets.randbelow(1_000_000))
    print(f"the pictures are of seed {seed}; GATEHOUSE_BENCH_SEED={seed} takes them again", file=sys.stderr)
    numbers = np.random.default_rng(seed).integers(1 << 20, 1 << 40, 12).tolist()
    small, large = (3, 1) if quick else (12, 4)
    for kinds, count, size in ((SMALL_PICTURES, small, "one megapixel"), (LARGE_PICTURES, large, "12 megapixels")):
        millis: list[float] = []
        for kind, take in kinds.items():
            yield _kind(kind, [take(number) for number in numbers[:count]], millis)
        yield Result("stills", f"{size} picture", Figure.of_spread(Spread.of(millis), "ms"), at_most(LONGEST_MS, "p99"))


def _kind(kind: str, photographs: list[Photograph], millis: list[float]) -> Result:
    there = sum(len(texts) for _, texts in photographs)
    ours, invented = 0, 0
    for image, texts in photographs:
        began = time.thread_time_ns()
        read = set(decode_still(image).codes)
        millis.append((time.thread_time_ns() - began) / 1e6)
        ours, invented = ours + len(read & set(texts)), invented + len(read - set(texts))
    if invented:
        raise RuntimeError(f"{kind}: {invented} codes were read that are not in the pictures")
    best = max(sum(len(other(image) & set(texts)) for image, texts in photographs) for other in OTHERS)
    return Result("stills", kind, Figure(value=ours, unit=f"of {there}", yardstick=best), NEVER_FEWER)
