"""Self-contained HTML reports of evaluations."""
