"""`autograd`'s functions: those of cvzoo under SINGA's names, from Tensors to Tensors."""
