"""Networks in Caffe's format, run as they are."""
