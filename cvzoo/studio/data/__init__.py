"""Data sets: their images, annotations, revisions, versions and findings."""
