"""Kept for tools that still look for it; everything stands in pyproject.toml."""

from setuptools import setup

setup()
