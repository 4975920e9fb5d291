"""Other people's models: their files and their names for things, in and out."""
