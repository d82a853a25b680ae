"""Fixtures of the zoo's tests."""

import importlib.util
import pathlib

import pytest


@pytest.fixture(scope="session")
def seeds():
    """The module seeded_weights.py: networks of torchvision whose numbers their names seed."""
    return load("seeded_weights")


def load(name):
    """A module that lies beside this one."""
    path = pathlib.Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
