"""Types, schemas and graphs, and their texts."""
