"""The command `roost` and the light client it is made of. Importing the package imports nothing else."""
