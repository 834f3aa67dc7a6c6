"""Session files of the CLIs, read as their makers left them: never run, never changed."""
