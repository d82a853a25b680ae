"""Networks from darknet's cfg and weights files."""
