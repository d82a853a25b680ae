"""DeepLab: label maps with atrous convolutions (Chen et al., 2017, 2018)."""
