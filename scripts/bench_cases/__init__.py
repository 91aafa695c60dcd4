"""The benchmarks, a module each: the frame they stand in is scripts/measuring."""
