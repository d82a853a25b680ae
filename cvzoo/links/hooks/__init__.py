"""What may be done before and after a link computes: hooks that change its weight."""
