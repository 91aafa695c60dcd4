"""What every room of the server stands on: database, web words, sealing, logs, measures."""
