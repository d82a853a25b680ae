"""Networks in Caffe's format."""
