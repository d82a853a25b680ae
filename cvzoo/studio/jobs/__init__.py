"""Runs and jobs: what is read of their folders."""
