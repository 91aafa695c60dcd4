"""The tests; tests/README.md describes the folders."""
