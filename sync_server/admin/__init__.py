"""The organiser's pages: templates and page routes only; they call services and queries."""
