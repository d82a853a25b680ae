"""Splits a data set into a training set and evaluation sets."""
