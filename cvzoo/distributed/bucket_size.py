"""The size of the messages in which gradients are sent, of the multi-node optimizer and of predictions of it."""

BUCKET_MB = 8.0  # MiB
