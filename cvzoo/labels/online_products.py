"""The 12 groups of Stanford Online Products, in the order of their labels."""

# fmt: off
online_products_super_label_names = (
    "bicycle", "cabinet", "chair", "coffee_maker", "fan", "kettle", "lamp", "mug", "sofa", "stapler", "table",
    "toaster",
)
# fmt: on
