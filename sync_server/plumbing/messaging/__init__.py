"""The bus: notifications to listeners, in the process and through Redis."""
