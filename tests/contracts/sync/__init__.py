"""The contract between gates and server, on SQLite and PostgreSQL."""
