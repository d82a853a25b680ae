"""Link hooks that replace a layer's weight while it computes."""
