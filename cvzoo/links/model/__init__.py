"""The model zoo: one folder per paper."""
