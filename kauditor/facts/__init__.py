"""Facts, one file each: its type, where it is read, and how it is added up."""
