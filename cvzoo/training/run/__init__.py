"""Runs: one folder with the configuration, logs and results of a training."""
