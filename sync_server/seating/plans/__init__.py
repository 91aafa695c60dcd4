"""The plan of the seats of an event: loaded once for a process, under maps, search, holds and tickets."""
