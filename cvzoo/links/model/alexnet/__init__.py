"""AlexNet (Krizhevsky, 2014)."""
