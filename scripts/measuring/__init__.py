"""The frame that benchmarks stand in: what a result is, how it is told, and the statistics they share."""
