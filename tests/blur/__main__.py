import sys

from .blurred import main

sys.exit(main())
