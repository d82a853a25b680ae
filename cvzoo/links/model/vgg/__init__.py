"""VGG networks (Simonyan and Zisserman, 2015)."""
