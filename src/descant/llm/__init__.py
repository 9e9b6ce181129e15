from .. import _precision as _precision
