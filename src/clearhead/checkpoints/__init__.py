"""Models on disk: our own folders, and other people's files in `foreign/`. No code runs on load."""
