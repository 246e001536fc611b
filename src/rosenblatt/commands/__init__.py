"""The commands of ``rosenblatt``, a module each; `rosenblatt.command_line` loads the one that is asked for."""
