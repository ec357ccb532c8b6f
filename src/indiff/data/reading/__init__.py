"""One file per way that a table arrives: separated text, spreadsheet, frame."""
