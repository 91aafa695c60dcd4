"""The benchmarks, one per module, in rooms by subject; their framework is scripts/benchmarking."""
