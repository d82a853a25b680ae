"""Who publishes weights: where the files lie, their terms, and how the publisher's networks see images, a file each."""
