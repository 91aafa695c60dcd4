"""What all packages of the server use: database, HTTP, cache, bus, Redis, sealing, logs, metrics."""
