"""Static checks of the code, the vendored files and the generated pages."""
