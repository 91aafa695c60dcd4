"""Sells small halls out over and over, to compare what the house fills with what could have been filled."""
