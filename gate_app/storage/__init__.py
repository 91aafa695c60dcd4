"""The gate's SQLite file and its schema."""
