"""For developers: drafts of database migrations, made by comparing the declared tables with the newest schema."""
