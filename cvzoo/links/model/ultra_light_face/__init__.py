"""Ultra-Light face detector, a one-stage detector of one megabyte (Linzaer, 2019)."""
