"""An audit in the formats that pipelines read."""
