"""A file per revision of the schema."""
