"""The database's schema through time, by alembic."""
