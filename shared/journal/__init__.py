"""The gate's journal: chained entries, their time, and the scans in them."""
