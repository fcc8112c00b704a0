from dovetail import utils as utils
from dovetail._core import *
from dovetail._core import __version__ as __version__
