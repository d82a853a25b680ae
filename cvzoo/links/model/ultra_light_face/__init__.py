"""The one-megabyte face detector of Linzaer (2019)."""
