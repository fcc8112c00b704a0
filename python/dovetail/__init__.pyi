from dovetail import utils as utils
from dovetail._core import *  # noqa: F403
from dovetail._core import __version__ as __version__
