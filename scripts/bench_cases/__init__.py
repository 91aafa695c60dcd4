"""The benchmarks, one per module; their framework is scripts/benchmarking."""
