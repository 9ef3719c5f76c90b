"""The command line: one file a command; heavy rooms are imported inside the commands, so that help stays quick."""
