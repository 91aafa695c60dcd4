"""What the server tells its operators: logs, measures, traces."""
