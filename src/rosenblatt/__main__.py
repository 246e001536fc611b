"""``python -m rosenblatt`` is the command ``rosenblatt``."""

from rosenblatt.command_line import main

if __name__ == "__main__":
    main()
