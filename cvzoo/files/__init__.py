"""Reading and writing files safely: atomic writes, bounded reads, hashes, locks, checked zip archives, HTTP."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.files.atomic_write import atomic_write, sync_folder
    from cvzoo.files.file_bytes import file_bytes, file_size
    from cvzoo.files.file_hash import remembered_sha256, sha256_of
    from cvzoo.files.file_lock import file_lock
    from cvzoo.files.zip_archive import ZipArchive

__all__ = [
    "atomic_write",
    "file_bytes",
    "file_lock",
    "file_size",
    "remembered_sha256",
    "sha256_of",
    "sync_folder",
    "ZipArchive",
]

import_on_demand(__name__)
