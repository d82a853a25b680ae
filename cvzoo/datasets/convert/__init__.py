"""From one layout of annotated photos to another, and what is lost on the way."""
