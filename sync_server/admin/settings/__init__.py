"""Pages of the organisation itself and of its people: signing in, members, settings, audit log, exports."""
