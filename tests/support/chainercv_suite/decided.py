"""Where cvzoo decided otherwise: (regular expression of a test's name, why)."""

DECIDED: list[tuple[str, str]] = []
