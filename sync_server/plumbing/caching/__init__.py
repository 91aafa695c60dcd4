"""The cache: in the process, and in Redis."""
