"""Models that compute in eight bits: what is measured on photos, and what computes then."""
