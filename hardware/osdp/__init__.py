"""Readers and door controllers on an OSDP line: their lamp, buzzer and output."""
