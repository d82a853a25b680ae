"""YOLOv2 and YOLOv3, written out as links."""
