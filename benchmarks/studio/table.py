"""What is measured of the studio, the targets, and the table."""

from load import times

# row: (unit, target), of the studio's design
TARGETS: dict[str, tuple[str, float]] = {
    "command to first page": ("s", 2.0),
    "memory of the idle server": ("MB", 80),
    "memory with the large set, 1,000 runs and 50 streams": ("MB", 120),
    "page of 100 images": ("p95 ms", 15),
    "page of 100 images of a class": ("p95 ms", 20),
    "page of 100 images of two classes": ("p95 ms", 40),
    "page of 100 images by a part of the name": ("p95 ms", 80),
    "facets": ("p95 ms", 20),
    "overview page": ("p95 ms", 60),
    "label edit": ("p95 ms", 25),
    "freeze": ("s", 3.0),
    "difference of 1,000 changes": ("p95 ms", 100),
    "thumbnails made, one core": ("per s", 140),
    "thumbnails served over 6 connections": ("per s", 300),
    "screen of 100 thumbnails": ("p95 ms", 500),
    "first list of runs": ("ms", 2000),
    "page of 100 runs": ("p95 ms", 40),
    "JSON of all runs": ("p95 ms", 30),
    "50 streams, 10 events a second: delay": ("p95 ms", 50),
    "50 streams, 10 events a second: CPU": ("% of a core", 10),
    "curves of 10^6 rows": ("p95 ms", 300),
    "tail of a log of 10^5 lines": ("p95 ms", 100),
    "import": ("s", 480),
    "memory of the import": ("MB", 400),
    "drag with 2,000 boxes and 500 polygons": ("p95 ms", 16),
    "queue to first iteration, more than the command": ("s", 1.5),
    "memory growth of the server": ("MB", 5),
}
_LARGER_IS_BETTER = ("per s",)
SET = "benchmark"  # of `make_sets.py rows`
Rows = list[dict]


def row(name: str, value: float, **more: object) -> dict:
    """A row of the results: what was measured, its target, and whether it is met."""
    unit, target = TARGETS[name]
    met = value >= target if unit in _LARGER_IS_BETTER else value <= target
    return {"row": name, "value": round(value, 2), "unit": unit, "target": target, "met": met, **more}


def timed(name: str, seconds: list[float], **more: object) -> dict:
    """A row of p95."""
    found = times(seconds)
    return row(name, found["p95_ms"], **found, **more)


def print_table(rows: Rows) -> None:
    """One line a row: value, target, verdict."""
    for each in rows:
        if "skipped" in each:
            print(f"{each['row']:58s} skipped: {each['skipped']}")
            continue
        verdict = "met" if each["met"] else "MISSED"
        cpu = f", {each['server_cpu_ms']} ms CPU of the server" if "server_cpu_ms" in each else ""
        print(f"{each['row']:58s} {each['value']:>9g} {each['unit']:12s} target {each['target']:<7g} {verdict}{cpu}")
