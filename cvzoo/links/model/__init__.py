"""The model zoo: one folder per paper."""

from cvzoo.lazy_imports.on_demand import import_on_demand

import_on_demand(__name__)  # for Chainer's names, whose errors say what to use
