"""The zoo: one folder a paper."""
