"""What gates and server promise each other, on SQLite and on PostgreSQL."""
