"""Watches over the house: what somebody must look at, and rows that point where they must not."""
