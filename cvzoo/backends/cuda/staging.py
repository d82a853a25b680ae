"""What `backends.transfer` holds, by its former name."""

from cvzoo.backends.transfer import download as download
from cvzoo.backends.transfer import on_host as on_host
from cvzoo.backends.transfer import upload as upload
