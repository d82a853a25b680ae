"""Programs that use a running studio by its REST interface; of the standard library alone."""
