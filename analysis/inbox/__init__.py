"""An inbox for members of staff: protocols, amendments, releases and approvals that wait, together on one page."""
