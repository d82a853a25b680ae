"""Networks that darknet's own files describe."""
