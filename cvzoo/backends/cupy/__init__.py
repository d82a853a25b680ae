"""The backend of a GPU that needs nothing but CuPy."""
