"""How right an answer is; not differentiable."""
