"""Streams and long polls: an asyncio listener holds them open, so that waiting costs no thread."""
