"""What a process and Redis remember of sales and holds, so that most latecomers never reach the database."""
