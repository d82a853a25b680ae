"""What can hang on a trainer."""

__all__ = []
