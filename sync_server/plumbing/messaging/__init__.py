"""The bus: notifications to subscribers, in the process, through PostgreSQL or through Redis."""
