"""Maxima and means over windows, and the way back."""
