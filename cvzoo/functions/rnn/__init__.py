"""Steps of recurrent networks."""
