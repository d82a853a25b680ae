"""Starting the ranks of a job with mpiexec, watching them, and restarting them from the last snapshot."""
