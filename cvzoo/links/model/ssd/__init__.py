"""SSD: one look at a photo, with boxes on maps of many scales."""
