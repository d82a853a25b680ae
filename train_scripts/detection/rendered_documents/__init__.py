"""Synthetic documents: random text, layout, and scanning or photographing."""

from rendered_documents.dataset import RenderedDocuments, rendered_documents_label_names

__all__ = ["rendered_documents_label_names", "RenderedDocuments"]
