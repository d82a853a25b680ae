"""Documents drawn by lot: what they say, how they are set, and how they are photographed."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.datasets.rendered.rendered_documents import RenderedDocuments, rendered_documents_label_names

__all__ = ["rendered_documents_label_names", "RenderedDocuments"]

import_on_demand(__name__)
