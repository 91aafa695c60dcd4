"""The shop's pages: routes and templates, which call the services and queries of other packages."""
