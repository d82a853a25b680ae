"""Looking for small files and odd arrays that break a reader, an evaluator or a kernel: `scripts/fuzz --list`."""
