"""What every room may rely on: the shape alphabet, the error family, devices, seeds and the log. It knows no model."""
