"""GoogLeNet (Szegedy et al., 2015) and Inception v3 (Szegedy et al., 2016)."""
