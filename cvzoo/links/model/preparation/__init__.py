"""How images become networks' inputs: frozen descriptions, and what reads them."""
