"""Looking things up by their likeness to a question."""
