"""Seats and tickets, from the search for a seat to the PDF."""
