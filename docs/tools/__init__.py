"""What builds the site: docstrings for the reference, code of the pages that is run, and files from elsewhere."""
