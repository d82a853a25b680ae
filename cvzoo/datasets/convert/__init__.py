"""Conversion between the layouts of data sets, with a report of what is lost."""
