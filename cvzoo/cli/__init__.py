"""The command line: `cvzoo predict`, `cvzoo models`, `cvzoo doctor`, a file a verb."""

from cvzoo.cli.main import main

__all__ = ["main"]
