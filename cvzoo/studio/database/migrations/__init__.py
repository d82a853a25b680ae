"""Alembic's folder: the environment and a file per revision of the schema."""
