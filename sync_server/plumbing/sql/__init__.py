"""Database access beyond sessions: column types, bulk and prepared statements, and the fast ways to commit."""
