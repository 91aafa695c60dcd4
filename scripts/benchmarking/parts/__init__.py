"""Cases of benchmarks that take more than one module."""
