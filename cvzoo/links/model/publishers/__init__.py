"""Publishers of weights: addresses, licenses and preprocessing, one file per publisher."""
