"""Annotated photos as files keep them: VOC's, COCO's, YOLO's and SROIE's layouts, read leniently and written."""
