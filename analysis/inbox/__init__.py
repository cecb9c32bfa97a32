"""An inbox for members of staff: protocols, amendments, releases and approvals that wait are together, on one page and at one address of the API."""
