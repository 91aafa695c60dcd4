"""Who asks a measured server: clients of HTTP, pages, gates that wait, and partners."""
