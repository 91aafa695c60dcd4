"""The framework of the benchmarks: results, reports, shared statistics, test stacks and baselines."""
