"""Lets worker processes, which inherit sys.path, import the data sets of these tests."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
