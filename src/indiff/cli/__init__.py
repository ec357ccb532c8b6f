"""The commands of ``indiff``: one file each, thin over the package."""
