"""The database: schema, engine and migrations."""
