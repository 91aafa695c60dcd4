"""Real PostgreSQL, Redis, RabbitMQ and Chromium for tests, private and started only when a test asks."""
