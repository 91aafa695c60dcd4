"""Private PostgreSQL, Redis and RabbitMQ servers for one test run or benchmark, apart from the machine's own."""
