"""Models: those of runs, those made of them, and the zoo's."""
