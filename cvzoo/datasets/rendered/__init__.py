"""Documents drawn by lot: what they say, how they are set, and how they are photographed."""

from cvzoo.datasets.rendered.rendered_documents import RenderedDocuments, rendered_documents_label_names

__all__ = ["rendered_documents_label_names", "RenderedDocuments"]
