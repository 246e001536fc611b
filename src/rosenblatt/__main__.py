"""``python -m rosenblatt`` is the command ``rosenblatt``."""

import gc


def main() -> None:
    """The entry point of the command."""
    gc.set_threshold(50_000)  # loading modules makes many objects and no garbage: to look for it takes 5 ms
    from rosenblatt.command_line import main as run

    run()


if __name__ == "__main__":
    main()
