"""Facts to RabbitMQ and messages from it: connections, messages, the relay and the consumer."""
