"""`python -m roost`: the same as the command `roost`."""

from roost.main import main

if __name__ == "__main__":
    main()
