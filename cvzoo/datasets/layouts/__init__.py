"""Readers (tolerant of faults) and writers of the layouts of data sets: VOC's, COCO's, YOLO's and SROIE's."""
