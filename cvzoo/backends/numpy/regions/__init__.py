"""RoI pooling of feature maps in NumPy: the positions of cells, and sums over them."""
