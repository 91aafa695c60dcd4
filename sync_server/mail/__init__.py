"""Mail: rows written with the change that they tell of, and sent by the worker."""
