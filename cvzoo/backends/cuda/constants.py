"""What `backends.constants` holds, by its former name."""

from cvzoo.backends.constants import beside as beside
from cvzoo.backends.constants import constants as constants
