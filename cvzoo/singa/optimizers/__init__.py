"""SINGA's optimizers: their formulas and schedules on the update of cvzoo's."""
