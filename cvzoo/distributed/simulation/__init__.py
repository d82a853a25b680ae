"""A model of the time of data-parallel training: computation, waiting for the slowest rank, and communication."""
