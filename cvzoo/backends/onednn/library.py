"""Finding and loading libdnnl."""


def why_no_onednn() -> str | None:
    """Why oneDNN cannot be used here, in one sentence; None if it can."""
    return None
