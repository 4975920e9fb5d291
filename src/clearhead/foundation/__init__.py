"""What every room may rely on: shapes, errors, devices, seeds and the log. It knows no model."""
