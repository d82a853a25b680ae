"""The REST interface, a router per noun."""
