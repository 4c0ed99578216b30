"""Images: the process that decodes uploads, and where the results are stored."""
