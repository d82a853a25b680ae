"""Documents drawn by lot: what they say, how they are set, and how they are photographed."""

from rendered_documents.dataset import RenderedDocuments, rendered_documents_label_names

__all__ = ["rendered_documents_label_names", "RenderedDocuments"]
