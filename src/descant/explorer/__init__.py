"""The explorer: a page in the browser, served from this machine, to ask, learn, look inside, compile and judge.

It knows how nothing is computed: its rooms call those of the library, in processes of their own where that takes long.
"""

from ._guard import Access as Access
from ._jobs import Jobs as Jobs
from ._serve import make_app as make_app, serve as serve
