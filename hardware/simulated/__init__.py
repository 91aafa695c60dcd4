"""Synthetic guests, codes and camera frames, for training, demonstrations, tests and benchmarks."""
