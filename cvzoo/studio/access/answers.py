"""How many requests were answered, by the class of their status."""


class Answers:
    """Counts since the server started. n: of "1xx" to "5xx" """

    def __init__(self) -> None:
        self.n = {f"{i}xx": 0 for i in range(1, 6)}

    def count(self, status: int) -> None:
        """One more, in the thread that answers all requests."""
        self.n[f"{status // 100}xx"] += 1
